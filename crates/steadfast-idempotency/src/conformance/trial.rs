//! What the trials of several promises share: operations, records, and the way of a commit.

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http::StatusCode;

use super::TxSubject;
use crate::Key;
use crate::server::{Answer, Began, FingerprintHasher, Operation, Record, StoreError, TxStore};

/// Nothing, or how a promise was seen to be broken.
pub(super) type Seen = Result<(), String>;
pub(super) type Tx<S> = <<S as TxSubject>::Store as TxStore>::Tx;

pub(super) const RETENTION: Duration = Duration::from_secs(60 * 60);
/// How long is waited for something that must not happen.
pub(super) const SHORT: Duration = Duration::from_millis(200);
/// How long is waited for something that must happen.
pub(super) const LONG: Duration = Duration::from_secs(15);

pub(super) fn operation(key: &str) -> Operation {
    scoped("conformance", "caller", key)
}

pub(super) fn scoped(namespace: &str, scope: &str, key: &str) -> Operation {
    let key = Key::parse(key).expect("the suite's own keys are keys");
    Operation::new(namespace, scope, &key)
}

pub(super) fn record(body: &str) -> Record {
    let fingerprint = FingerprintHasher::new("conformance").field(body).finish();
    Record::new(
        fingerprint,
        Answer::new(StatusCode::CREATED, body.to_owned()),
    )
}

/// A step that must succeed.
pub(super) async fn must<T>(
    what: &str,
    step: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, String> {
    match tokio::time::timeout(LONG, step).await {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(format!("{what}: {error}: {}", source(&error))),
        Err(_) => Err(format!("{what}: no answer in {LONG:?}")),
    }
}

fn source(error: &StoreError) -> String {
    std::error::Error::source(error).map_or_else(String::new, ToString::to_string)
}

/// Begins an operation that nobody has done or holds. One that was just dropped may need a moment.
pub(super) async fn fresh<St: TxStore>(
    store: &St,
    operation: &Operation,
) -> Result<St::Tx, String> {
    let freed = async {
        loop {
            match must("begin", store.begin(operation)).await? {
                Began::Fresh(tx) => return Ok(tx),
                Began::Done(_) => return Err("begin: an operation that nobody did is done".into()),
                Began::Busy => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        }
    };
    tokio::time::timeout(LONG, freed)
        .await
        .unwrap_or_else(|_| Err(format!("begin: busy for {LONG:?} with nobody at it")))
}

pub(super) async fn write<S: TxSubject>(
    subject: &S,
    tx: &mut Tx<S>,
    effect: &str,
) -> Result<(), String> {
    let written = subject.write(tx, effect).await;
    written.map_err(|error| format!("an effect could not be written: {error}"))
}

/// From begin to commit, with an effect.
pub(super) async fn done<S: TxSubject>(
    subject: &S,
    store: &S::Store,
    operation: &Operation,
    record: &Record,
    effect: &str,
) -> Seen {
    let mut tx = fresh(store, operation).await?;
    write(subject, &mut tx, effect).await?;
    must(
        "record",
        store.record(&mut tx, operation, record, RETENTION),
    )
    .await?;
    must("commit", store.commit(tx)).await
}

pub(super) fn equal<T: PartialEq + Debug>(what: &str, seen: T, right: T) -> Seen {
    match seen == right {
        true => Ok(()),
        false => Err(format!("{what}: {seen:?} instead of {right:?}")),
    }
}

/// The committed effects in order, by name.
pub(super) async fn effects<S: TxSubject>(subject: &S) -> Vec<String> {
    let mut effects = subject.effects().await;
    effects.sort_unstable();
    effects
}

/// A future that is dropped after so many polls; None is what is left of it.
pub(super) struct Cut<F> {
    inner: Option<Pin<Box<F>>>,
    polls: usize,
}

impl<F> Cut<F> {
    pub(super) fn after(polls: usize, inner: F) -> Self {
        Self {
            inner: Some(Box::pin(inner)),
            polls,
        }
    }
}

impl<F: Future> Future for Cut<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if self.polls == 0 {
            self.inner = None;
            return Poll::Ready(None);
        }
        self.polls -= 1;
        let Some(inner) = &mut self.inner else {
            return Poll::Ready(None);
        };
        match inner.as_mut().poll(cx) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending if self.polls == 0 => {
                self.inner = None;
                Poll::Ready(None)
            }
            Poll::Pending => Poll::Pending,
        }
    }
}
