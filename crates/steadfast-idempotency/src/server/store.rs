use std::error::Error;
use std::fmt;
use std::future::Future;
use std::time::Duration;

use steadfast_core::BoxError;

use super::operation::Operation;
use super::record::Record;

/// A database in which effect and record commit together.
///
/// The engine calls in this order: [`find`](Self::find); [`begin`](Self::begin); the handler runs
/// with the transaction; then [`rollback_effect`](Self::rollback_effect) where only the answer is
/// kept, [`record`](Self::record), [`commit`](Self::commit), or else
/// [`rollback`](Self::rollback). It drops any of these futures at its time limit, so each must be
/// safe to drop: a transaction that was not committed is rolled back, also when it is dropped.
///
/// The feature `conformance` has a suite that tries all of this on a store.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a store of idempotency keys with transactions",
    label = "not a `TxStore`",
    note = "`SqliteStore` of `steadfast-idempotency-sqlx` is one; a handle is `Clone`, `Send`, \
            `Sync` and `'static`, and clones share the store"
)]
pub trait TxStore: Clone + Send + Sync + 'static {
    /// An open transaction. It owns its connection; dropping it rolls back.
    type Tx: Send + 'static;

    /// The committed record of an operation, by a plain read that waits for no writer.
    ///
    /// An expired record that is still there is honoured: retention is a minimum.
    fn find(
        &self,
        operation: &Operation,
    ) -> impl Future<Output = Result<Option<Record>, StoreError>> + Send;

    /// Whether the engine calls [`find`](Self::find) before each [`begin`](Self::begin). Default:
    /// yes, so that a replay needs no transaction and waits for no writer.
    ///
    /// A store whose `begin` looks as well, and waits for nobody, may save fresh operations that
    /// round trip. Then only a repeat that meets another one in this process is looked up by `find`.
    fn finds_first(&self) -> bool {
        true
    }

    /// Takes the operation for writing, looks a second time, and marks where the effect begins.
    fn begin(
        &self,
        operation: &Operation,
    ) -> impl Future<Output = Result<Began<Self::Tx>, StoreError>> + Send;

    /// Undoes what the handler wrote and keeps the transaction.
    fn rollback_effect(
        &self,
        tx: &mut Self::Tx,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Writes the record; fails if the operation has one, or if the handler ended the
    /// transaction by hand ([`StoreErrorKind::TransactionEnded`]).
    ///
    /// A store may put the writing off until [`commit`](Self::commit), to save a round trip; that
    /// fails then for the same reasons.
    fn record(
        &self,
        tx: &mut Self::Tx,
        operation: &Operation,
        record: &Record,
        retention: Duration,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Commits. After an error or a drop the outcome is unknown until [`resolve`](Self::resolve).
    fn commit(&self, tx: Self::Tx) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Rolls everything back.
    fn rollback(&self, tx: Self::Tx) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// What became of a commit whose answer was lost.
    ///
    /// It must not look before the old transaction has ended, one way or the other.
    fn resolve(
        &self,
        operation: &Operation,
    ) -> impl Future<Output = Result<Option<Record>, StoreError>> + Send;
}

/// How [`TxStore::begin`] found the operation.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "lives for one match")]
#[non_exhaustive]
pub enum Began<Tx> {
    /// Nothing is recorded, and this transaction is the only one that can record it.
    Fresh(Tx),
    /// Somebody finished it since the first look.
    Done(Record),
    /// Another transaction is at this very operation. Never the answer to a lock on others.
    Busy,
}

/// A store that could not do its part.
#[derive(Debug)]
pub struct StoreError {
    kind: StoreErrorKind,
    source: BoxError,
}

/// Whose fault a [`StoreError`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// The store is down, slow, contended or unreadable: 503.
    Unavailable,
    /// The handler ended the transaction behind the engine's back: 500. Its effect may be
    /// committed without a record, which a repeat would double.
    TransactionEnded,
}

impl StoreError {
    /// The store cannot serve now.
    pub fn unavailable(source: impl Into<BoxError>) -> Self {
        Self {
            kind: StoreErrorKind::Unavailable,
            source: source.into(),
        }
    }

    /// The handler committed or rolled back by hand.
    pub fn transaction_ended(source: impl Into<BoxError>) -> Self {
        Self {
            kind: StoreErrorKind::TransactionEnded,
            source: source.into(),
        }
    }

    /// One step of a store, which is dropped at the limit and then counts as failed.
    pub(crate) async fn in_time<T>(
        step: &'static str,
        limit: Duration,
        doing: impl Future<Output = Result<T, Self>>,
    ) -> Result<T, Self> {
        let late = |_| Self::unavailable(format!("its step `{step}` took longer than {limit:?}"));
        tokio::time::timeout(limit, doing).await.map_err(late)?
    }

    /// Whose fault it is.
    pub const fn kind(&self) -> StoreErrorKind {
        self.kind
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            StoreErrorKind::Unavailable => "the idempotency store is unavailable",
            StoreErrorKind::TransactionEnded => "the handler ended the transaction by hand",
        })
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}
