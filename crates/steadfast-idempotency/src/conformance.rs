//! The promises of a [`TxStore`], each tried on it. Feature `conformance`.
//!
//! A store of anybody's can be run against it in a test. The suite has to write effects and to look
//! at them, which only the store's own crate knows how to do: a [`TxSubject`] says so in three
//! functions. Two more are worth writing, because each lets a promise be tried that is not
//! otherwise: [`fail`](TxSubject::fail) and [`end_by_hand`](TxSubject::end_by_hand).
//!
//! ```no_run
//! # use steadfast_idempotency::conformance::TxSubject;
//! # async fn test<S: TxSubject>(fresh: impl AsyncFn() -> S) {
//! // `fresh` makes an empty database; each promise gets one of its own.
//! steadfast_idempotency::conformance::assert_tx_store(fresh).await;
//! # }
//! ```
//!
//! It waits on real time where it has to show that something waits, a few seconds in all, so it
//! wants a runtime whose clock is not paused, with more than one thread.

use std::fmt;
use std::future::Future;
use std::time::Duration;

use steadfast_core::BoxError;

use crate::server::TxStore;

mod commits;
mod cuts;
mod ended;
pub mod leases;
mod owners;
mod promise;
mod records;
mod trial;

pub use promise::Promise;

/// A database under a store, and what has to be known to see effects in it.
///
/// An effect is a row of the subject's own, of which only the name counts.
pub trait TxSubject: Send + Sync {
    /// The store.
    type Store: TxStore;

    /// The store as a process of its own has it: what two of them share is the database.
    fn open(&self) -> impl Future<Output = Self::Store> + Send;

    /// Writes an effect in the transaction, as a handler would.
    fn write(
        &self,
        tx: &mut <Self::Store as TxStore>::Tx,
        effect: &str,
    ) -> impl Future<Output = Result<(), BoxError>> + Send;

    /// The effects that are committed, as anybody sees them who is outside of all transactions.
    fn effects(&self) -> impl Future<Output = Vec<String>> + Send;

    /// Makes a statement of a handler fail in the transaction; false where statements do not.
    fn fail(&self, tx: &mut <Self::Store as TxStore>::Tx) -> impl Future<Output = bool> + Send {
        let _ = tx;
        async { false }
    }

    /// Commits behind the store's back, as SQL of a handler could; false where there is no way to.
    fn end_by_hand(
        &self,
        tx: &mut <Self::Store as TxStore>::Tx,
    ) -> impl Future<Output = bool> + Send {
        let _ = tx;
        async { false }
    }
}

/// Tries every promise on a store; each on a fresh database.
///
/// # Panics
///
/// When promises are broken; the text names each one and how that was seen.
pub async fn assert_tx_store<S: TxSubject>(make: impl AsyncFn() -> S) {
    let broken = broken_promises(make).await;
    assert!(
        broken.is_empty(),
        "the store breaks its contract:{}",
        broken
            .iter()
            .map(|it| format!("\n- {it}"))
            .collect::<String>()
    );
}

/// Tries every promise on a store and says which of them do not hold, and how that was seen.
pub async fn broken_promises<S: TxSubject>(make: impl AsyncFn() -> S) -> Vec<Broken> {
    let mut broken = Vec::new();
    for promise in Promise::ALL {
        let subject = make().await;
        let tried = tokio::time::timeout(BOUND, promise.try_on(&subject)).await;
        let tried = tried.unwrap_or_else(|_| Err(format!("nothing came of it in {BOUND:?}")));
        if let Err(seen) = tried {
            broken.push(Broken { promise, seen });
        }
    }
    broken
}

/// Far above what a promise takes, and the end of a store that hangs.
const BOUND: Duration = Duration::from_secs(60);

/// A promise that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Broken {
    /// Which one.
    pub promise: Promise,
    /// How that was seen.
    pub seen: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.promise, self.seen)
    }
}
