//! What the trials of several promises share.

use std::fmt::Debug;
use std::future::Future;
use std::time::Duration;

use http::StatusCode;

use crate::Key;
use crate::server::leased::{Claim, Claimed, Fence, Fenced, LeaseStore, OnExpired, Terms};
use crate::server::{Answer, Fingerprint, FingerprintHasher, Operation, Record, StoreError};

/// Nothing, or how a promise was seen to be broken.
pub(super) type Tried = Result<(), String>;

pub(super) const LEASE: Duration = Duration::from_millis(300);
/// By then a lease has ended, also of a store that rounds up to whole tenths.
pub(super) const OVER: Duration = Duration::from_millis(500);
const HOUR: Duration = Duration::from_secs(60 * 60);

/// A lease that ends while it is waited for.
pub(super) fn short() -> Terms {
    Terms::new(LEASE, HOUR)
}

/// A lease that does not end.
pub(super) fn long() -> Terms {
    Terms::new(HOUR, HOUR)
}

pub(super) fn operation(key: &str) -> Operation {
    scoped("conformance", "caller", key)
}

pub(super) fn scoped(namespace: &str, scope: &str, key: &str) -> Operation {
    let key = Key::parse(key).expect("the suite's own keys are keys");
    Operation::new(namespace, scope, &key)
}

pub(super) fn request(text: &str) -> Fingerprint {
    FingerprintHasher::new("conformance").field(text).finish()
}

pub(super) fn record(of: &str, body: &str) -> Record {
    let answer = Answer::new(StatusCode::CREATED, body.to_owned());
    Record::new(request(of), answer)
}

pub(super) fn ask(of: &str, terms: Terms, on_expired: OnExpired) -> Claim {
    Claim::new(request(of), terms, on_expired)
}

/// A step that must succeed.
pub(super) async fn must<T>(
    what: &str,
    step: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, String> {
    step.await.map_err(|error| {
        let source = std::error::Error::source(&error);
        let source = source.map_or_else(String::new, ToString::to_string);
        format!("{what}: {error}: {source}")
    })
}

/// Claims an operation that nobody holds.
pub(super) async fn hold<St: LeaseStore>(
    store: &St,
    operation: &Operation,
    claim: &Claim,
) -> Result<(Fence, u32), String> {
    match must("claim", store.claim(operation, claim)).await? {
        Claimed::Held { fence, attempt } => Ok((fence, attempt)),
        other => Err(format!(
            "claim: {other:?} of an operation that nobody holds"
        )),
    }
}

/// One of the four words of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Renew,
    Complete,
    Release,
    Abandon,
}

impl Word {
    pub(super) const ALL: [Self; 4] = [Self::Renew, Self::Complete, Self::Release, Self::Abandon];

    pub(super) async fn say<St: LeaseStore>(
        self,
        store: &St,
        operation: &Operation,
        fence: Fence,
        record: &Record,
        terms: Terms,
    ) -> Result<Fenced, String> {
        match self {
            Self::Renew => must("renew", store.renew(operation, fence, terms)).await,
            Self::Complete => {
                let complete = store.complete(operation, fence, record, terms);
                must("complete", complete).await
            }
            Self::Release => must("release", store.release(operation, fence, terms)).await,
            Self::Abandon => must("abandon", store.abandon(operation, fence, terms)).await,
        }
    }
}

pub(super) fn equal<T: PartialEq + Debug>(what: &str, seen: T, right: T) -> Tried {
    match seen == right {
        true => Ok(()),
        false => Err(format!("{what}: {seen:?} instead of {right:?}")),
    }
}

pub(super) fn holds(what: &str, is: bool) -> Tried {
    match is {
        true => Ok(()),
        false => Err(what.to_owned()),
    }
}
