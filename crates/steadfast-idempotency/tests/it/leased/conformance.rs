//! The suite of stores, on the one in memory and on some that break a promise each.

use std::num::NonZeroUsize;

use steadfast_idempotency::conformance::leases::{
    LeaseSubject, Promise, assert_lease_store, broken_promises,
};
use steadfast_idempotency::server::leased::{
    Claim, Claimed, Fence, Fenced, LeaseStore, MemoryLeaseStore, Seen, Terms,
};
use steadfast_idempotency::server::{Operation, Record, StoreError};

struct Memory(MemoryLeaseStore);

impl LeaseSubject for Memory {
    type Store = MemoryLeaseStore;

    async fn open(&self) -> MemoryLeaseStore {
        self.0.clone()
    }

    async fn sweep(&self) {
        self.0.sweep();
    }
}

fn memory() -> MemoryLeaseStore {
    MemoryLeaseStore::new(NonZeroUsize::new(1000).unwrap())
}

#[tokio::test(start_paused = true)]
async fn the_store_in_memory_keeps_every_promise() {
    assert_lease_store(async || Memory(memory())).await;
}

/// What a careless store does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    /// Words are heard whoever says them: no fence.
    Unfenced,
    /// A lease's end forgets the operation: `SET NX PX`.
    LeaseOnly,
    /// Whoever asks holds.
    NoLock,
    /// An operation that may not run twice is taken over all the same.
    TakesOver,
}

#[derive(Clone)]
struct Flawed(MemoryLeaseStore, Flaw);

impl LeaseSubject for Flawed {
    type Store = Self;

    async fn open(&self) -> Self {
        self.clone()
    }
}

impl Flawed {
    /// The newest fence, for a store that looks at none.
    async fn any(&self, operation: &Operation, fence: Fence) -> Fence {
        let seen = self.0.find(operation).await.unwrap();
        match (self.1, seen) {
            (Flaw::Unfenced, Some(Seen::Running { fence, .. } | Seen::Unknown { fence, .. })) => {
                fence
            }
            _ => fence,
        }
    }
}

impl LeaseStore for Flawed {
    async fn claim(&self, operation: &Operation, claim: &Claim) -> Result<Claimed, StoreError> {
        use steadfast_idempotency::server::leased::OnExpired;
        let mut claim = claim.clone();
        let seen = self.0.find(operation).await?;
        match (self.1, seen) {
            (Flaw::TakesOver, _) => claim.on_expired = OnExpired::TakeOver,
            (Flaw::LeaseOnly, Some(Seen::Running { fence, left, .. })) if left.is_zero() => {
                self.0.release(operation, fence, claim.terms).await?;
            }
            (Flaw::NoLock, Some(Seen::Running { fence, .. })) => {
                self.0.release(operation, fence, claim.terms).await?;
            }
            _ => {}
        }
        self.0.claim(operation, &claim).await
    }

    async fn renew(
        &self,
        operation: &Operation,
        fence: Fence,
        terms: Terms,
    ) -> Result<Fenced, StoreError> {
        let fence = self.any(operation, fence).await;
        self.0.renew(operation, fence, terms).await
    }

    async fn complete(
        &self,
        operation: &Operation,
        fence: Fence,
        record: &Record,
        terms: Terms,
    ) -> Result<Fenced, StoreError> {
        let fence = self.any(operation, fence).await;
        self.0.complete(operation, fence, record, terms).await
    }

    async fn release(
        &self,
        operation: &Operation,
        fence: Fence,
        terms: Terms,
    ) -> Result<Fenced, StoreError> {
        let fence = self.any(operation, fence).await;
        self.0.release(operation, fence, terms).await
    }

    async fn abandon(
        &self,
        operation: &Operation,
        fence: Fence,
        terms: Terms,
    ) -> Result<Fenced, StoreError> {
        let fence = self.any(operation, fence).await;
        self.0.abandon(operation, fence, terms).await
    }

    async fn find(&self, operation: &Operation) -> Result<Option<Seen>, StoreError> {
        self.0.find(operation).await
    }
}

#[tokio::test(start_paused = true)]
async fn each_flaw_of_a_store_is_caught_by_name() {
    let rows = [
        (Flaw::Unfenced, Promise::Fenced),
        (Flaw::LeaseOnly, Promise::Unknown),
        (Flaw::NoLock, Promise::OneHolder),
        (Flaw::TakesOver, Promise::Unknown),
    ];
    for (flaw, promise) in rows {
        let broken = broken_promises(async || Flawed(memory(), flaw)).await;
        let named = broken.iter().any(|broken| broken.promise == promise);
        assert!(named, "{flaw:?}: {broken:?}");
    }
}
