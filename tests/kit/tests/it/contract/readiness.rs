//! Layers that mistreat readiness.

use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Request, Response};
use steadfast_kit::contract::{Promise, Subject, assert_contract};
use steadfast_kit::{BoxError, Chunks};
use tower::{Layer, Service};

use super::{Below, Boxed, broken};

/// Clones its service and calls the clone, as `self.inner.clone().oneshot` tempts one to.
#[derive(Clone)]
struct CloneThenCall(Below);

impl CloneThenCall {
    const fn new(inner: Below) -> Self {
        Self(inner)
    }
}

impl Service<Request<Chunks>> for CloneThenCall {
    type Response = Response<Chunks>;
    type Error = BoxError;
    type Future = Boxed;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Chunks>) -> Boxed {
        let mut clone = self.0.clone();
        Box::pin(async move { clone.call(request).await })
    }
}

layer!(CloneThenCallLayer, CloneThenCall);
subject!(ClonesThenCalls, CloneThenCallLayer, CloneThenCallLayer);

#[tokio::test(start_paused = true)]
#[should_panic(expected = "only the readied instance is called: the probe was called without")]
async fn a_layer_that_calls_a_clone_is_found() {
    assert_contract(&ClonesThenCalls).await;
}

/// Moves the readied instance into its future and thinks before it calls it.
#[derive(Clone)]
struct Thinking(Below);

impl Thinking {
    const fn new(inner: Below) -> Self {
        Self(inner)
    }
}

impl Service<Request<Chunks>> for Thinking {
    type Response = Response<Chunks>;
    type Error = BoxError;
    type Future = Boxed;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Chunks>) -> Boxed {
        let clone = self.0.clone();
        let mut readied = std::mem::replace(&mut self.0, clone);
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(1)).await;
            readied.call(request).await
        })
    }
}

layer!(ThinkingLayer, Thinking);
subject!(Thinks, ThinkingLayer, ThinkingLayer);

#[tokio::test(start_paused = true)]
async fn a_layer_that_waits_with_a_reserved_instance_is_found() {
    assert_eq!(broken(&Thinks).await, [Promise::HoldsNoReadiness]);
}

/// Clones of it share one instance below, and so its readiness.
#[derive(Clone)]
struct Sharing(Arc<Mutex<Below>>);

impl Sharing {
    fn new(inner: Below) -> Self {
        Self(Arc::new(Mutex::new(inner)))
    }
}

impl Service<Request<Chunks>> for Sharing {
    type Response = Response<Chunks>;
    type Error = BoxError;
    type Future = <Below as Service<Request<Chunks>>>::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.lock().unwrap().poll_ready(cx)
    }

    fn call(&mut self, request: Request<Chunks>) -> Self::Future {
        self.0.lock().unwrap().call(request)
    }
}

layer!(SharingLayer, Sharing);
subject!(Shares, SharingLayer, SharingLayer);

#[tokio::test(start_paused = true)]
async fn clones_that_share_readiness_are_found() {
    assert!(broken(&Shares).await.contains(&Promise::IndependentClones));
}
