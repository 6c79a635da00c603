use std::collections::HashMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::claim::{Claim, Claimed, Fenced, Seen, Terms};
use super::fence::Fence;
use super::machine::{self, Kept, Word};
use super::store::LeaseStore;
use crate::server::operation::Operation;
use crate::server::record::Record;
use crate::server::store::StoreError;

/// Leases and answers in this process: for tests, and for services of one process that may forget
/// with it.
///
/// It is bounded. A record that has not expired is never dropped to make room, since that would be
/// a silent duplicate: a full store is unavailable. Clones share everything.
#[derive(Clone)]
pub struct MemoryLeaseStore(Arc<Inner>);

struct Inner {
    capacity: NonZeroUsize,
    origin: Instant,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    kept: HashMap<Operation, Kept>,
    /// The last fence of any operation, so that it grows for each also after it was forgotten.
    fence: u64,
}

impl MemoryLeaseStore {
    /// A store of at most so many operations. It reads tokio's clock.
    pub fn new(capacity: NonZeroUsize) -> Self {
        Self(Arc::new(Inner {
            capacity,
            origin: Instant::now(),
            state: Mutex::default(),
        }))
    }

    /// How many operations are kept, expired ones included.
    pub fn len(&self) -> usize {
        self.lock().kept.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets what has expired, and says how many that were. A full store does so by itself.
    pub fn sweep(&self) -> usize {
        let now = self.now();
        self.lock().sweep(now)
    }

    fn say(&self, operation: &Operation, fence: Fence, word: Word, terms: Terms) -> Fenced {
        let now = self.now();
        let mut state = self.lock();
        let kept = state.kept.remove(operation);
        let (kept, fenced) = machine::say(kept, now, fence, word, terms);
        if let Some(kept) = kept {
            state.kept.insert(operation.clone(), kept);
        }
        fenced
    }

    fn now(&self) -> Duration {
        self.0.origin.elapsed()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics between two changes of the map.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn sweep(&mut self, now: Duration) -> usize {
        let before = self.kept.len();
        self.kept.retain(|_, kept| now < kept.expires);
        before - self.kept.len()
    }
}

impl LeaseStore for MemoryLeaseStore {
    async fn claim(&self, operation: &Operation, claim: &Claim) -> Result<Claimed, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let room = state.kept.len() < self.0.capacity.get();
        if !room && !state.kept.contains_key(operation) && state.sweep(now) == 0 {
            let full = format!(
                "it holds {} operations that have not expired",
                state.kept.len()
            );
            return Err(StoreError::unavailable(full));
        }
        let next = Fence::new(state.fence + 1);
        let kept = state.kept.remove(operation);
        let (kept, claimed) = machine::claim(kept, now, claim, next);
        if let Some(kept) = kept {
            state.fence = state.fence.max(kept.fence.get());
            state.kept.insert(operation.clone(), kept);
        }
        Ok(claimed)
    }

    async fn renew(
        &self,
        operation: &Operation,
        fence: Fence,
        terms: Terms,
    ) -> Result<Fenced, StoreError> {
        Ok(self.say(operation, fence, Word::Renew, terms))
    }

    async fn complete(
        &self,
        operation: &Operation,
        fence: Fence,
        record: &Record,
        terms: Terms,
    ) -> Result<Fenced, StoreError> {
        Ok(self.say(operation, fence, Word::Complete(record.clone()), terms))
    }

    async fn release(
        &self,
        operation: &Operation,
        fence: Fence,
        terms: Terms,
    ) -> Result<Fenced, StoreError> {
        Ok(self.say(operation, fence, Word::Release, terms))
    }

    async fn abandon(
        &self,
        operation: &Operation,
        fence: Fence,
        terms: Terms,
    ) -> Result<Fenced, StoreError> {
        Ok(self.say(operation, fence, Word::Abandon, terms))
    }

    async fn find(&self, operation: &Operation) -> Result<Option<Seen>, StoreError> {
        let now = self.now();
        let state = self.lock();
        let seen = state.kept.get(operation);
        Ok(seen.and_then(|kept| machine::look(kept, now)))
    }
}

impl fmt::Debug for MemoryLeaseStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryLeaseStore")
            .field("capacity", &self.0.capacity)
            .field("kept", &self.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use http::StatusCode;

    use super::*;
    use crate::Key;
    use crate::server::answer::Answer;
    use crate::server::fingerprint::Fingerprint;
    use crate::server::leased::OnExpired;

    fn operation(key: &str) -> Operation {
        Operation::new("n", "s", &Key::parse(key).unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_store_forgets_what_has_expired_and_nothing_else() {
        let store = MemoryLeaseStore::new(NonZeroUsize::new(2).unwrap());
        let terms = Terms::new(Duration::from_secs(1), Duration::from_secs(9));
        let fingerprint = Fingerprint::new(1, [0; 32]);
        let claim = || Claim::new(fingerprint, terms, OnExpired::Unknown);
        let mut fences = Vec::new();
        for key in ["a", "b"] {
            let claimed = store.claim(&operation(key), &claim()).await.unwrap();
            let Claimed::Held { fence, .. } = claimed else {
                panic!("{claimed:?}");
            };
            fences.push(fence);
        }
        assert!(store.claim(&operation("c"), &claim()).await.is_err());
        // What is there needs no room.
        let record = Record::new(fingerprint, Answer::new(StatusCode::OK, "x"));
        let a = operation("a");
        let done = store.complete(&a, fences[0], &record, terms).await;
        assert_eq!(done.unwrap(), Fenced::Accepted);

        tokio::time::advance(terms.lifetime()).await;
        let claimed = store.claim(&operation("c"), &claim()).await.unwrap();
        assert!(matches!(claimed, Claimed::Held { fence, .. } if fence > fences[1]));
        assert_eq!(store.len(), 1);
    }
}
