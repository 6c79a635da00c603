//! Layers that leave something behind when a call is dropped.

use std::sync::Arc;
use std::task::{Context, Poll, ready};

use http::{Request, Response};
use steadfast_kit::contract::{Promise, Subject, assert_contract, broken_promises};
use steadfast_kit::{BoxError, Chunks};
use tokio::sync::Semaphore;
use tower::{Layer, Service};

use super::{Below, Boxed, broken};

/// Takes a permit for each call, and gives it back only when the call ends well.
#[derive(Clone)]
struct Leaky {
    inner: Below,
    permits: Arc<Semaphore>,
}

impl Leaky {
    fn new(inner: Below) -> Self {
        Self {
            inner,
            permits: Arc::new(Semaphore::new(2)),
        }
    }
}

impl Service<Request<Chunks>> for Leaky {
    type Response = Response<Chunks>;
    type Error = BoxError;
    type Future = Boxed;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        let () = ready!(self.inner.poll_ready(cx))?;
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Chunks>) -> Boxed {
        let permits = self.permits.clone();
        let call = self.inner.call(request);
        Box::pin(async move {
            let permits_of_two = permits.acquire_many(2).await?;
            permits_of_two.forget();
            let answer = call.await;
            permits.add_permits(2);
            answer
        })
    }
}

layer!(LeakyLayer, Leaky);
subject!(Leaks, LeakyLayer, LeakyLayer);

#[tokio::test(start_paused = true)]
async fn a_permit_that_a_dropped_call_does_not_give_back_is_found() {
    let broken = broken_promises(&Leaks).await;
    let leak = broken
        .iter()
        .find(|it| it.promise == Promise::Releases)
        .unwrap();
    assert!(
        leak.seen
            .contains("polls, the next call ends so: nothing woke"),
        "{leak}"
    );
}

/// Does its work in a task that goes on when the caller has left.
#[derive(Clone)]
struct Spawning(Below);

impl Spawning {
    const fn new(inner: Below) -> Self {
        Self(inner)
    }
}

impl Service<Request<Chunks>> for Spawning {
    type Response = Response<Chunks>;
    type Error = BoxError;
    type Future = Boxed;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Chunks>) -> Boxed {
        let task = tokio::spawn(self.0.call(request));
        Box::pin(async move { task.await? })
    }
}

layer!(SpawningLayer, Spawning);
subject!(Spawns, SpawningLayer, SpawningLayer);
subject!(
    SpawnsAndSaysSo,
    SpawningLayer,
    SpawningLayer,
    fn works_on(&self) -> bool {
        true
    }
);

#[tokio::test(start_paused = true)]
async fn work_that_goes_on_after_its_caller_left_must_be_declared() {
    assert_eq!(broken(&Spawns).await, [Promise::Releases]);
    assert_contract(&SpawnsAndSaysSo).await;
}
