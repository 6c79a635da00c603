use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use http::HeaderMap;
use steadfast_idempotency::conformance::TxSubject;
use steadfast_idempotency::server::{Began, Operation, Record, StoreError, TxStore};
use tokio::task::yield_now;

/// What is wrong with a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Flaw {
    #[default]
    None,
    LosesHeaders,
    JoinsFields,
    FoldsCase,
    ForgetsExpired,
    RecordsAtOnce,
    WritesElsewhere,
    HoldsWhatWasDropped,
    UndoesNothing,
    LocksNothing,
    OverwritesRecords,
    HasOneLock,
    ReadsBehindWriters,
    RecordsAfterCommit,
    ResolvesTooEarly,
    TrustsHandlers,
    Talks,
}

/// A database in memory: effects, records, and who holds which operation.
#[derive(Clone, Default)]
pub(crate) struct Database {
    flaw: Flaw,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    effects: Vec<String>,
    records: HashMap<String, (Record, Duration)>,
    held: HashSet<String>,
}

pub(crate) struct Tx {
    database: Database,
    id: String,
    effects: Vec<String>,
    record: Option<(String, Record, Duration)>,
    failed: bool,
    ended: bool,
    over: bool,
}

impl Database {
    pub(crate) fn with(flaw: Flaw) -> Self {
        let state = Arc::default();
        Self { flaw, state }
    }

    fn has(&self, flaw: Flaw) -> bool {
        self.flaw == flaw
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn id(&self, operation: &Operation) -> String {
        let (namespace, scope, key) = (operation.namespace(), operation.scope(), operation.key());
        match self.flaw {
            Flaw::JoinsFields => format!("{namespace}_{scope}_{}", key.as_str()),
            Flaw::FoldsCase => format!("{:?}", (namespace, scope, key.as_str().to_lowercase())),
            _ => format!("{:?}", (namespace, scope, key.as_str())),
        }
    }

    fn lock(&self, id: &str) -> String {
        match self.flaw {
            Flaw::HasOneLock => String::new(),
            _ => id.to_owned(),
        }
    }

    fn look(&self, id: &str) -> Option<Record> {
        let state = self.state();
        let (mut record, retention) = state.records.get(id)?.clone();
        if self.has(Flaw::ForgetsExpired) && retention.is_zero() {
            return None;
        }
        if self.has(Flaw::LosesHeaders) {
            record.answer.headers = HeaderMap::new();
        }
        Some(record)
    }
}

impl Tx {
    /// As a database that refuses a second row under one key.
    fn apply_record(&mut self) -> Result<(), StoreError> {
        let Some((id, record, retention)) = self.record.take() else {
            return Ok(());
        };
        let mut state = self.database.state();
        let overwrites = matches!(
            self.database.flaw,
            Flaw::OverwritesRecords | Flaw::LocksNothing
        );
        if state.records.contains_key(&id) && !overwrites {
            let text = match self.database.flaw {
                Flaw::Talks => format!("duplicate key {id}"),
                _ => "duplicate key".to_owned(),
            };
            return Err(StoreError::unavailable(text));
        }
        state.records.insert(id, (record, retention));
        Ok(())
    }

    fn apply_effects(&mut self) {
        let mut state = self.database.state();
        state.effects.append(&mut self.effects);
    }

    fn check(&self) -> Result<(), StoreError> {
        match self.ended && !self.database.has(Flaw::TrustsHandlers) {
            true => Err(StoreError::transaction_ended("no such savepoint")),
            false => Ok(()),
        }
    }
}

impl Drop for Tx {
    fn drop(&mut self) {
        if self.over || !self.database.has(Flaw::HoldsWhatWasDropped) {
            let lock = self.database.lock(&self.id);
            self.database.state().held.remove(&lock);
        }
    }
}

impl TxStore for Database {
    type Tx = Tx;

    async fn find(&self, operation: &Operation) -> Result<Option<Record>, StoreError> {
        yield_now().await;
        while self.has(Flaw::ReadsBehindWriters) && !self.state().held.is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        Ok(self.look(&self.id(operation)))
    }

    async fn begin(&self, operation: &Operation) -> Result<Began<Tx>, StoreError> {
        let id = self.id(operation);
        let lock = self.lock(&id);
        let taken = self.state().held.insert(lock);
        let unlocked = matches!(self.flaw, Flaw::LocksNothing | Flaw::OverwritesRecords);
        if !taken && !unlocked {
            return Ok(Began::Busy);
        }
        let tx = Tx {
            database: self.clone(),
            id: id.clone(),
            effects: Vec::new(),
            record: None,
            failed: false,
            ended: false,
            over: false,
        };
        yield_now().await;
        match self.look(&id) {
            Some(record) => Ok(Began::Done(record)),
            None => Ok(Began::Fresh(tx)),
        }
    }

    async fn rollback_effect(&self, tx: &mut Tx) -> Result<(), StoreError> {
        tx.check()?;
        yield_now().await;
        if !self.has(Flaw::UndoesNothing) {
            tx.effects.clear();
        }
        tx.failed = false;
        Ok(())
    }

    async fn record(
        &self,
        tx: &mut Tx,
        operation: &Operation,
        record: &Record,
        retention: Duration,
    ) -> Result<(), StoreError> {
        tx.check()?;
        yield_now().await;
        if tx.failed {
            return Err(StoreError::unavailable("a statement failed before"));
        }
        tx.record = Some((self.id(operation), record.clone(), retention));
        if self.has(Flaw::RecordsAtOnce) {
            tx.apply_record()?;
        }
        Ok(())
    }

    async fn commit(&self, mut tx: Tx) -> Result<(), StoreError> {
        if self.has(Flaw::ResolvesTooEarly) {
            // The commit is on its way, whatever becomes of its caller.
            let commit = tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(3)).await;
                tx.over = true;
                tx.apply_record()?;
                tx.apply_effects();
                Ok(())
            });
            return commit.await.unwrap();
        }
        yield_now().await;
        tx.over = true;
        if self.has(Flaw::RecordsAfterCommit) {
            tx.apply_effects();
            yield_now().await;
        }
        tx.apply_record()?;
        tx.apply_effects();
        Ok(())
    }

    async fn rollback(&self, mut tx: Tx) -> Result<(), StoreError> {
        yield_now().await;
        tx.over = true;
        tx.check()
    }

    async fn resolve(&self, operation: &Operation) -> Result<Option<Record>, StoreError> {
        let id = self.id(operation);
        yield_now().await;
        let lock = self.lock(&id);
        while !self.has(Flaw::ResolvesTooEarly) && self.state().held.contains(&lock) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        Ok(self.look(&id))
    }
}

impl TxSubject for Database {
    type Store = Self;

    async fn open(&self) -> Self {
        self.clone()
    }

    async fn write(&self, tx: &mut Tx, effect: &str) -> Result<(), Box<dyn Error + Send + Sync>> {
        match self.has(Flaw::WritesElsewhere) {
            true => self.state().effects.push(effect.to_owned()),
            false => tx.effects.push(effect.to_owned()),
        }
        Ok(())
    }

    async fn effects(&self) -> Vec<String> {
        self.state().effects.clone()
    }

    async fn fail(&self, tx: &mut Tx) -> bool {
        tx.failed = true;
        true
    }

    async fn end_by_hand(&self, tx: &mut Tx) -> bool {
        tx.apply_effects();
        tx.ended = true;
        true
    }
}
