use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use steadfast_core::BoxError;

use super::leased::{Claim, Claimed, Fence, Fenced, LeaseStore, Seen, Terms};
use super::operation::Operation;
use super::record::Record;
use super::store::{Began, StoreError, TxStore};

/// What is done to the bodies of answers before they are kept, and undone before they are given:
/// encryption, above all.
///
/// The operation goes in so that it can be authenticated with the body: otherwise whoever can
/// write the table could give one caller's answer to another. Neither function may block for long.
pub trait BodyTransform: Send + Sync + 'static {
    /// A body as the store keeps it.
    ///
    /// # Errors
    ///
    /// It cannot be kept: the store counts as unavailable, and the operation does not end.
    fn keep(&self, operation: &Operation, body: Bytes) -> Result<Bytes, BoxError>;

    /// A body as it was.
    ///
    /// # Errors
    ///
    /// What is kept is not what [`keep`](Self::keep) made for this operation: 503, and the work
    /// does not run again.
    fn give(&self, operation: &Operation, kept: Bytes) -> Result<Bytes, BoxError>;
}

/// A store that keeps bodies transformed, around any other.
///
/// Status, headers and fingerprint are kept as they are. The fingerprint of a body that can be
/// guessed tells it to whoever reads the table; give the layer a keyed fingerprint then
/// ([`Fingerprint::new`](super::Fingerprint::new) over an HMAC).
///
/// ```
/// use bytes::Bytes;
/// use steadfast_core::BoxError;
/// use steadfast_idempotency::server::{BodyTransform, Operation, Transformed};
///
/// /// Not a cipher.
/// struct Backwards;
///
/// impl BodyTransform for Backwards {
///     fn keep(&self, _: &Operation, body: Bytes) -> Result<Bytes, BoxError> {
///         Ok(body.iter().rev().copied().collect())
///     }
///
///     fn give(&self, operation: &Operation, kept: Bytes) -> Result<Bytes, BoxError> {
///         self.keep(operation, kept)
///     }
/// }
/// # use std::num::NonZeroUsize;
/// # use steadfast_idempotency::server::leased::MemoryLeaseStore;
/// # let store = MemoryLeaseStore::new(NonZeroUsize::MIN);
/// let store = Transformed::new(store, Backwards);
/// ```
#[derive(Debug)]
pub struct Transformed<St, T> {
    store: St,
    transform: Arc<T>,
}

impl<St, T> Transformed<St, T> {
    /// `store` with every body transformed on its way in and out.
    pub fn new(store: St, transform: T) -> Self {
        let transform = Arc::new(transform);
        Self { store, transform }
    }

    /// The store inside.
    pub const fn inner(&self) -> &St {
        &self.store
    }
}

impl<St, T: BodyTransform> Transformed<St, T> {
    fn keep(&self, operation: &Operation, record: &Record) -> Result<Record, StoreError> {
        let mut record = record.clone();
        let body = self.transform.keep(operation, record.answer.body);
        record.answer.body = body.map_err(StoreError::unavailable)?;
        Ok(record)
    }

    fn give(&self, operation: &Operation, mut record: Record) -> Result<Record, StoreError> {
        let body = self.transform.give(operation, record.answer.body);
        record.answer.body = body.map_err(StoreError::unavailable)?;
        Ok(record)
    }

    fn give_found(
        &self,
        operation: &Operation,
        found: Option<Record>,
    ) -> Result<Option<Record>, StoreError> {
        found.map(|record| self.give(operation, record)).transpose()
    }
}

impl<St: Clone, T> Clone for Transformed<St, T> {
    fn clone(&self) -> Self {
        Self {
            store: self.store.clone(),
            transform: Arc::clone(&self.transform),
        }
    }
}

impl<St: TxStore, T: BodyTransform> TxStore for Transformed<St, T> {
    type Tx = St::Tx;

    async fn find(&self, operation: &Operation) -> Result<Option<Record>, StoreError> {
        let found = self.store.find(operation).await?;
        self.give_found(operation, found)
    }

    fn finds_first(&self) -> bool {
        self.store.finds_first()
    }

    async fn begin(&self, operation: &Operation) -> Result<Began<St::Tx>, StoreError> {
        Ok(match self.store.begin(operation).await? {
            Began::Done(record) => Began::Done(self.give(operation, record)?),
            other => other,
        })
    }

    async fn rollback_effect(&self, tx: &mut St::Tx) -> Result<(), StoreError> {
        self.store.rollback_effect(tx).await
    }

    async fn record(
        &self,
        tx: &mut St::Tx,
        operation: &Operation,
        record: &Record,
        retention: Duration,
    ) -> Result<(), StoreError> {
        let record = self.keep(operation, record)?;
        self.store.record(tx, operation, &record, retention).await
    }

    async fn commit(&self, tx: St::Tx) -> Result<(), StoreError> {
        self.store.commit(tx).await
    }

    async fn rollback(&self, tx: St::Tx) -> Result<(), StoreError> {
        self.store.rollback(tx).await
    }

    async fn resolve(&self, operation: &Operation) -> Result<Option<Record>, StoreError> {
        let found = self.store.resolve(operation).await?;
        self.give_found(operation, found)
    }
}

impl<St: LeaseStore, T: BodyTransform> LeaseStore for Transformed<St, T> {
    async fn claim(&self, operation: &Operation, claim: &Claim) -> Result<Claimed, StoreError> {
        Ok(match self.store.claim(operation, claim).await? {
            Claimed::Done(record) => Claimed::Done(self.give(operation, record)?),
            other => other,
        })
    }

    async fn renew(
        &self,
        operation: &Operation,
        fence: Fence,
        terms: Terms,
    ) -> Result<Fenced, StoreError> {
        self.store.renew(operation, fence, terms).await
    }

    async fn complete(
        &self,
        operation: &Operation,
        fence: Fence,
        record: &Record,
        terms: Terms,
    ) -> Result<Fenced, StoreError> {
        let record = self.keep(operation, record)?;
        self.store.complete(operation, fence, &record, terms).await
    }

    async fn release(
        &self,
        operation: &Operation,
        fence: Fence,
        terms: Terms,
    ) -> Result<Fenced, StoreError> {
        self.store.release(operation, fence, terms).await
    }

    async fn abandon(
        &self,
        operation: &Operation,
        fence: Fence,
        terms: Terms,
    ) -> Result<Fenced, StoreError> {
        self.store.abandon(operation, fence, terms).await
    }

    async fn find(&self, operation: &Operation) -> Result<Option<Seen>, StoreError> {
        Ok(match self.store.find(operation).await? {
            Some(Seen::Done(record)) => Some(Seen::Done(self.give(operation, record)?)),
            other => other,
        })
    }
}
