//! Layers that forget wakers, or spin.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::{Request, Response};
use steadfast_kit::contract::{Promise, Subject, assert_contract, broken_promises};
use steadfast_kit::{BoxError, Chunks};
use tower::{Layer, Service};

use super::{Answer, Below, Boxed, broken};

/// Answers `Pending` once before it polls what is below.
#[derive(Clone)]
struct Sleepy {
    inner: Below,
}

impl Sleepy {
    const fn new(inner: Below) -> Self {
        Self { inner }
    }
}

struct SleepyCall<F> {
    call: Pin<Box<F>>,
    polls: usize,
}

impl<F: Future<Output = Answer>> Future for SleepyCall<F> {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Answer> {
        self.polls += 1;
        match self.polls {
            1..=3 => Poll::Pending,
            _ => self.call.as_mut().poll(cx),
        }
    }
}

impl Service<Request<Chunks>> for Sleepy {
    type Response = Response<Chunks>;
    type Error = BoxError;
    type Future = SleepyCall<<Below as Service<Request<Chunks>>>::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Chunks>) -> Self::Future {
        SleepyCall {
            call: Box::pin(self.inner.call(request)),
            polls: 0,
        }
    }
}

layer!(SleepyLayer, Sleepy);
subject!(Sleeps, SleepyLayer, SleepyLayer);

#[tokio::test(start_paused = true)]
#[should_panic(expected = "pending registers a waker: nothing woke the future")]
async fn a_future_that_registers_no_waker_is_found() {
    assert_contract(&Sleeps).await;
}

/// Polls what is below with the first waker that it saw.
#[derive(Clone)]
struct Faithful(Below);

impl Faithful {
    const fn new(inner: Below) -> Self {
        Self(inner)
    }
}

struct FaithfulCall<F> {
    call: Pin<Box<F>>,
    waker: Option<std::task::Waker>,
}

impl<F: Future<Output = Answer>> Future for FaithfulCall<F> {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Answer> {
        let waker = self.waker.get_or_insert_with(|| cx.waker().clone()).clone();
        self.call.as_mut().poll(&mut Context::from_waker(&waker))
    }
}

impl Service<Request<Chunks>> for Faithful {
    type Response = Response<Chunks>;
    type Error = BoxError;
    type Future = FaithfulCall<<Below as Service<Request<Chunks>>>::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Chunks>) -> Self::Future {
        FaithfulCall {
            call: Box::pin(self.0.call(request)),
            waker: None,
        }
    }
}

layer!(FaithfulLayer, Faithful);
subject!(KeepsItsFirstWaker, FaithfulLayer, FaithfulLayer);

#[tokio::test(start_paused = true)]
async fn a_future_that_keeps_its_first_waker_is_found() {
    assert!(broken(&KeepsItsFirstWaker).await.contains(&Promise::Wakes));
}

/// Repeats what fails, at once, for ever.
#[derive(Clone)]
struct Stubborn(Below, usize);

impl Stubborn {
    const fn new(inner: Below) -> Self {
        Self(inner, usize::MAX)
    }
}

impl Service<Request<Chunks>> for Stubborn {
    type Response = Response<Chunks>;
    type Error = BoxError;
    type Future = Boxed;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Chunks>) -> Boxed {
        let call = self.0.call(request);
        let polls = self.1;
        Box::pin(async move {
            for _ in 0..polls {
                tokio::task::yield_now().await;
            }
            call.await
        })
    }
}

layer!(StubbornLayer, Stubborn);
subject!(
    Spins,
    StubbornLayer,
    StubbornLayer,
    fn extremes(&self) -> Vec<StubbornLayer> {
        vec![StubbornLayer]
    }
);

#[tokio::test(start_paused = true)]
async fn a_layer_that_spins_is_found() {
    let broken = broken_promises(&Spins).await;
    let spins = broken
        .iter()
        .find(|it| it.promise == Promise::Bounded)
        .unwrap();
    assert!(spins.seen.contains("without an end"), "{spins}");
}
