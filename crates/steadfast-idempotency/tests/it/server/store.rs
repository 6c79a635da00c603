use std::collections::HashMap;
use std::future::pending;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use steadfast_idempotency::server::{Began, Operation, Record, StoreError, TxStore};
use tokio::sync::OwnedMutexGuard;

/// A transactional store with one writer, as SQLite has. A transaction's effects and record are
/// seen by others after its commit, and never otherwise.
#[derive(Clone, Default)]
pub(crate) struct MemoryStore(Arc<Inner>);

#[derive(Default)]
struct Inner {
    committed: Mutex<Committed>,
    writer: Arc<tokio::sync::Mutex<()>>,
    faults: Mutex<HashMap<Step, Fault>>,
    steps: Mutex<Vec<Step>>,
    busy: AtomicBool,
    open: AtomicUsize,
}

#[derive(Default)]
struct Committed {
    records: HashMap<Operation, Record>,
    effects: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    Find,
    Begin,
    RollbackEffect,
    Record,
    Commit,
    Rollback,
    Resolve,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing is done, and the error says so.
    Error,
    /// Nothing is done and nothing answers.
    Hang,
    /// It is done, and the answer is an error all the same.
    DoneButLost,
    /// It is done, and nothing answers.
    DoneButHangs,
    /// Another process is at this key.
    Busy,
}

pub(crate) struct MemoryTx {
    pub(crate) effects: Vec<String>,
    /// What SQL that ends the transaction by hand does.
    pub(crate) ended: bool,
    record: Option<(Operation, Record)>,
    _writer: OwnedMutexGuard<()>,
    _open: Open,
}

struct Open(Arc<Inner>);

impl Open {
    fn new(inner: &Arc<Inner>) -> Self {
        inner.open.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(inner))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::SeqCst);
    }
}

impl MemoryStore {
    /// Breaks the next call of this step.
    pub(crate) fn break_next(&self, step: Step, fault: Fault) {
        self.0.faults.lock().unwrap().insert(step, fault);
    }

    /// Another process is at every key, and stays.
    pub(crate) fn stay_busy(&self) {
        self.0.busy.store(true, Ordering::SeqCst);
    }

    /// How many connections are out now, in transactions.
    pub(crate) fn held(&self) -> usize {
        self.0.open.load(Ordering::SeqCst)
    }

    /// What was committed.
    pub(crate) fn effects(&self) -> Vec<String> {
        self.0.committed.lock().unwrap().effects.clone()
    }

    /// Whether a record is kept for any operation.
    pub(crate) fn records(&self) -> usize {
        self.0.committed.lock().unwrap().records.len()
    }

    /// The calls so far.
    pub(crate) fn steps(&self) -> Vec<Step> {
        self.0.steps.lock().unwrap().clone()
    }

    /// Writes like a handler that uses the pool instead of its transaction.
    pub(crate) fn write_outside(&self, effect: &str) {
        let mut committed = self.0.committed.lock().unwrap();
        committed.effects.push(effect.to_owned());
    }

    async fn enter(&self, step: Step) -> Result<Option<Fault>, StoreError> {
        self.0.steps.lock().unwrap().push(step);
        let fault = self.0.faults.lock().unwrap().remove(&step);
        match fault {
            Some(Fault::Error) => Err(broken()),
            Some(Fault::Hang) => pending().await,
            fault => Ok(fault),
        }
    }

    async fn leave(fault: Option<Fault>) -> Result<(), StoreError> {
        match fault {
            Some(Fault::DoneButLost) => Err(broken()),
            Some(Fault::DoneButHangs) => pending().await,
            _ => Ok(()),
        }
    }

    fn look(&self, operation: &Operation) -> Option<Record> {
        self.0
            .committed
            .lock()
            .unwrap()
            .records
            .get(operation)
            .cloned()
    }
}

fn broken() -> StoreError {
    StoreError::unavailable("the cable to 10.0.0.7 is cut")
}

fn ended() -> StoreError {
    StoreError::transaction_ended("no such savepoint")
}

impl TxStore for MemoryStore {
    type Tx = MemoryTx;

    async fn find(&self, operation: &Operation) -> Result<Option<Record>, StoreError> {
        self.enter(Step::Find).await?;
        Ok(self.look(operation))
    }

    async fn begin(&self, operation: &Operation) -> Result<Began<MemoryTx>, StoreError> {
        let fault = self.enter(Step::Begin).await?;
        if fault == Some(Fault::Busy) || self.0.busy.load(Ordering::SeqCst) {
            return Ok(Began::Busy);
        }
        let writer = Arc::clone(&self.0.writer).lock_owned().await;
        Ok(match self.look(operation) {
            Some(record) => Began::Done(record),
            None => Began::Fresh(MemoryTx {
                effects: Vec::new(),
                ended: false,
                record: None,
                _writer: writer,
                _open: Open::new(&self.0),
            }),
        })
    }

    async fn rollback_effect(&self, tx: &mut MemoryTx) -> Result<(), StoreError> {
        self.enter(Step::RollbackEffect).await?;
        if tx.ended {
            return Err(ended());
        }
        tx.effects.clear();
        Ok(())
    }

    async fn record(
        &self,
        tx: &mut MemoryTx,
        operation: &Operation,
        record: &Record,
        _: Duration,
    ) -> Result<(), StoreError> {
        self.enter(Step::Record).await?;
        if tx.ended {
            return Err(ended());
        }
        tx.record = Some((operation.clone(), record.clone()));
        Ok(())
    }

    async fn commit(&self, mut tx: MemoryTx) -> Result<(), StoreError> {
        let fault = self.enter(Step::Commit).await?;
        {
            let mut committed = self.0.committed.lock().unwrap();
            committed.effects.append(&mut tx.effects);
            committed.records.extend(tx.record.take());
        }
        Self::leave(fault).await
    }

    async fn rollback(&self, tx: MemoryTx) -> Result<(), StoreError> {
        self.enter(Step::Rollback).await?;
        match tx.ended {
            true => Err(ended()),
            false => Ok(()),
        }
    }

    async fn resolve(&self, operation: &Operation) -> Result<Option<Record>, StoreError> {
        self.enter(Step::Resolve).await?;
        let _writer = self.0.writer.lock().await;
        Ok(self.look(operation))
    }
}
