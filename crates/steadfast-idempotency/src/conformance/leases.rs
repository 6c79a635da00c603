//! The promises of a [`LeaseStore`], each tried on it.
//!
//! ```no_run
//! # use steadfast_idempotency::conformance::leases::LeaseSubject;
//! # async fn test<S: LeaseSubject>(fresh: impl AsyncFn() -> S) {
//! // `fresh` makes an empty store; each promise gets one of its own.
//! steadfast_idempotency::conformance::leases::assert_lease_store(fresh).await;
//! # }
//! ```
//!
//! Leases have to end in it, so it takes about a minute of the store's clock. Under a
//! paused clock they pass at once, for stores that read tokio's.

use std::fmt;
use std::future::Future;
use std::time::Duration;

use crate::server::leased::LeaseStore;

mod answers;
mod fences;
mod history;
mod holders;
mod promise;
mod trial;

pub use promise::Promise;

/// A store of leases, and how its time passes.
pub trait LeaseSubject: Send + Sync {
    /// The store.
    type Store: LeaseStore;

    /// The store as a process of its own has it: what two of them share is what they keep.
    fn open(&self) -> impl Future<Output = Self::Store> + Send;

    /// Lets the store's clock go on. By default tokio's does.
    fn pass(&self, time: Duration) -> impl Future<Output = ()> + Send {
        tokio::time::sleep(time)
    }

    /// Drops what has expired, where the store does not do so by itself.
    fn sweep(&self) -> impl Future<Output = ()> + Send {
        async {}
    }
}

/// Tries every promise on a store; each on a fresh one.
///
/// # Panics
///
/// When promises are broken; the text names each one and how that was seen.
pub async fn assert_lease_store<S: LeaseSubject>(make: impl AsyncFn() -> S) {
    let broken = broken_promises(make).await;
    let lines: String = broken.iter().map(|it| format!("\n- {it}")).collect();
    assert!(broken.is_empty(), "the store breaks its contract:{lines}");
}

/// Tries every promise on a store and says which of them do not hold, and how that was seen.
pub async fn broken_promises<S: LeaseSubject>(make: impl AsyncFn() -> S) -> Vec<Broken> {
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
const BOUND: Duration = Duration::from_secs(120);

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
