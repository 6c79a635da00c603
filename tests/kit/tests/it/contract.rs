//! The suite lets layers pass that keep their promises, and names the one that is broken.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http::{Request, Response};
use steadfast_kit::contract::{Inner, Promise, Subject, assert_contract, broken_promises};
use steadfast_kit::{BoxError, Chunks};
use tokio::sync::Semaphore;
use tower::limit::ConcurrencyLimitLayer;
use tower::{Layer, Service};

type Below = Inner<Chunks>;
type Answer = Result<Response<Chunks>, BoxError>;
type Boxed = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// Any layer that hands everything on.
macro_rules! subject {
    ($name:ident, $layer:ty, $make:expr $(, $item:item)*) => {
        struct $name;

        impl Subject for $name {
            type Sent = Chunks;
            type Answer = Chunks;
            type Service = <$layer as Layer<Below>>::Service;
            type Layer = $layer;

            fn layer(&self) -> $layer {
                $make
            }

            $($item)*
        }
    };
}

/// A layer that makes services of one kind.
macro_rules! layer {
    ($layer:ident, $service:ident) => {
        #[derive(Clone)]
        struct $layer;

        impl Layer<Below> for $layer {
            type Service = $service;

            fn layer(&self, inner: Below) -> $service {
                $service::new(inner)
            }
        }
    };
}

subject!(
    Nothing,
    tower::layer::util::Identity,
    tower::layer::util::Identity::new()
);

#[tokio::test(start_paused = true)]
async fn a_layer_that_does_nothing_keeps_every_promise() {
    assert_contract(&Nothing).await;
}

subject!(Limit, ConcurrencyLimitLayer, ConcurrencyLimitLayer::new(2));

#[tokio::test(start_paused = true)]
async fn towers_concurrency_limit_keeps_every_promise() {
    assert_contract(&Limit).await;
}

subject!(
    LimitOfOne,
    ConcurrencyLimitLayer,
    ConcurrencyLimitLayer::new(1)
);

/// Clones of it are meant to wait for each other.
#[tokio::test(start_paused = true)]
async fn a_limit_of_one_is_found_not_to_let_clones_call_at_once() {
    assert_eq!(broken(&LimitOfOne).await, [Promise::IndependentClones]);
}

subject!(
    ExceptedForNothing,
    tower::layer::util::Identity,
    tower::layer::util::Identity::new(),
    fn excepted(&self) -> Vec<(Promise, &'static str)> {
        vec![(Promise::AnswerFrames, "it reads answers whole")]
    }
);

#[tokio::test(start_paused = true)]
#[should_panic(expected = "kept, although excepted: it reads answers whole")]
async fn an_exception_that_is_not_needed_is_found() {
    assert_contract(&ExceptedForNothing).await;
}

async fn broken<S: Subject>(subject: &S) -> Vec<Promise> {
    broken_promises(subject)
        .await
        .into_iter()
        .map(|it| it.promise)
        .collect()
}

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

/// Tells its caller less than it was told.
#[derive(Clone)]
struct Summing(Below);

impl Summing {
    const fn new(inner: Below) -> Self {
        Self(inner)
    }
}

impl Service<Request<Chunks>> for Summing {
    type Response = Response<Chunks>;
    type Error = BoxError;
    type Future = Boxed;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0
            .poll_ready(cx)
            .map_err(|error| error.to_string().into())
    }

    fn call(&mut self, request: Request<Chunks>) -> Boxed {
        let call = self.0.call(request);
        Box::pin(async move {
            let (head, body) = call.await.map_err(|error| error.to_string())?.into_parts();
            let bytes = http_body_util::BodyExt::collect(body).await;
            let bytes = bytes.map_err(|error| error.to_string())?.to_bytes();
            let mut answer = Response::new(Chunks::of([bytes]));
            *answer.status_mut() = head.status;
            for (name, value) in &head.headers {
                answer.headers_mut().insert(name, value.clone());
            }
            Ok(answer)
        })
    }
}

layer!(SummingLayer, Summing);
subject!(Sums, SummingLayer, SummingLayer);

#[tokio::test(start_paused = true)]
async fn a_layer_that_swallows_errors_and_parts_of_answers_is_found() {
    let found = broken(&Sums).await;
    let want = [
        Promise::AnswerHead,
        Promise::AnswerExtensions,
        Promise::AnswerFrames,
        Promise::Errors,
        Promise::BodyErrors,
    ];
    assert_eq!(found, want);
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
