use std::collections::HashMap;
use std::future::pending;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use steadfast_idempotency::server::leased::{
    Claim, Claimed, Fence, Fenced, LeaseStore, MemoryLeaseStore, Seen, Terms,
};
use steadfast_idempotency::server::{Operation, Record, StoreError};

/// The store in memory, at the end of one process's cable, which can be cut.
#[derive(Clone)]
pub(crate) struct Wired(Arc<Inner>);

struct Inner {
    memory: MemoryLeaseStore,
    faults: Mutex<HashMap<Step, Vec<Fault>>>,
    steps: Mutex<Vec<Step>>,
    dead: AtomicBool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    Claim,
    Renew,
    Complete,
    Release,
    Abandon,
    Find,
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
}

impl Wired {
    pub(crate) fn new() -> Self {
        Self::over(MemoryLeaseStore::new(NonZeroUsize::new(1000).unwrap()))
    }

    fn over(memory: MemoryLeaseStore) -> Self {
        Self(Arc::new(Inner {
            memory,
            faults: Mutex::default(),
            steps: Mutex::default(),
            dead: AtomicBool::new(false),
        }))
    }

    /// The same store, at the end of another process's cable.
    pub(crate) fn peer(&self) -> Self {
        Self::over(self.0.memory.clone())
    }

    /// Nothing of this process is heard any more: to the store it is dead.
    pub(crate) fn die(&self) {
        self.0.dead.store(true, Ordering::SeqCst);
    }

    /// It was only frozen.
    pub(crate) fn thaw(&self) {
        self.0.dead.store(false, Ordering::SeqCst);
    }

    /// Breaks the next calls of this step.
    pub(crate) fn break_next(&self, step: Step, faults: &[Fault]) {
        let mut all = self.0.faults.lock().unwrap();
        all.entry(step).or_default().extend(faults);
    }

    pub(crate) fn steps(&self) -> Vec<Step> {
        self.0.steps.lock().unwrap().clone()
    }

    async fn send<T>(
        &self,
        step: Step,
        doing: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        self.0.steps.lock().unwrap().push(step);
        if self.0.dead.load(Ordering::SeqCst) {
            return pending().await;
        }
        let fault = {
            let mut faults = self.0.faults.lock().unwrap();
            let next = faults.get_mut(&step).filter(|next| !next.is_empty());
            next.map(|next| next.remove(0))
        };
        match fault {
            Some(Fault::Error) => return Err(cut()),
            Some(Fault::Hang) => return pending().await,
            _ => {}
        }
        // A store that is further away than memory.
        tokio::task::yield_now().await;
        let done = doing.await;
        tokio::task::yield_now().await;
        match fault {
            Some(Fault::DoneButLost) => Err(cut()),
            Some(Fault::DoneButHangs) => pending().await,
            _ => done,
        }
    }
}

fn cut() -> StoreError {
    StoreError::unavailable("the cable to 10.0.0.7 is cut")
}

impl LeaseStore for Wired {
    async fn claim(&self, operation: &Operation, claim: &Claim) -> Result<Claimed, StoreError> {
        self.send(Step::Claim, self.0.memory.claim(operation, claim))
            .await
    }

    async fn renew(
        &self,
        operation: &Operation,
        fence: Fence,
        terms: Terms,
    ) -> Result<Fenced, StoreError> {
        self.send(Step::Renew, self.0.memory.renew(operation, fence, terms))
            .await
    }

    async fn complete(
        &self,
        operation: &Operation,
        fence: Fence,
        record: &Record,
        terms: Terms,
    ) -> Result<Fenced, StoreError> {
        let complete = self.0.memory.complete(operation, fence, record, terms);
        self.send(Step::Complete, complete).await
    }

    async fn release(
        &self,
        operation: &Operation,
        fence: Fence,
        terms: Terms,
    ) -> Result<Fenced, StoreError> {
        let release = self.0.memory.release(operation, fence, terms);
        self.send(Step::Release, release).await
    }

    async fn abandon(
        &self,
        operation: &Operation,
        fence: Fence,
        terms: Terms,
    ) -> Result<Fenced, StoreError> {
        let abandon = self.0.memory.abandon(operation, fence, terms);
        self.send(Step::Abandon, abandon).await
    }

    async fn find(&self, operation: &Operation) -> Result<Option<Seen>, StoreError> {
        self.send(Step::Find, self.0.memory.find(operation)).await
    }
}
