//! Layers that stand the wrong way round, through the real layers: what is told, by whom, how
//! often; and what cannot be seen.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full, combinators::UnsyncBoxBody};
use steadfast::admission::breaker::BreakerConfig;
use steadfast::admission::bulkhead::BulkheadConfig;
use steadfast::admission::cooldown::CooldownConfig;
use steadfast::admission::fallback::Fell;
use steadfast::admission::{BreakerLayer, BulkheadLayer, CooldownLayer, FallbackLayer, Mode};
use steadfast::deadline::{AttemptTimeoutLayer, BodyTimeoutLayer, CallLimitLayer, PropagateLayer};
use steadfast::idempotency::client::{KeyConfig, KeyLayer, Routes};
use steadfast::order::apart;
use steadfast::retry::{RetryConfig, RetryLayer};
use steadfast::{BoxError, Event, LayerKind, Misordered, Observe};
use tower::util::BoxCloneService;
use tower::{Layer, Service, ServiceBuilder, ServiceExt, service_fn};

type Body = UnsyncBoxBody<Bytes, BoxError>;
/// Any stack; the box hands a call on at once.
type Stack = BoxCloneService<Request<Body>, Response<Body>, BoxError>;

/// What a fallback says.
type Answer = fn(&Fell<'_>) -> Response<Bytes>;

/// The pairs that were told, in order.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<Misordered>>>);

impl Observe for Told {
    fn observe(&self, event: &Event<'_>) {
        if let Event::LayersMisordered(pair) = event {
            self.0.lock().unwrap().push(*pair);
        }
    }
}

impl Told {
    fn pairs(&self) -> Vec<Misordered> {
        self.0.lock().unwrap().clone()
    }
}

fn request() -> Request<Body> {
    let body = Full::default().map_err(Into::into).boxed_unsync();
    Request::get("http://a.example/").body(body).unwrap()
}

fn answer(status: u16) -> Response<Body> {
    let body = Full::from("said").map_err(Into::into).boxed_unsync();
    let mut answer = Response::new(body);
    *answer.status_mut() = http::StatusCode::from_u16(status).unwrap();
    answer
}

/// Whoever answers.
fn peer() -> Stack {
    service_fn(|_: Request<Body>| async { Ok(answer(200)) }).boxed_clone()
}

fn nothing(_: &Fell<'_>) -> Response<Bytes> {
    Response::default()
}

fn fallback(told: &Told) -> FallbackLayer<Answer> {
    FallbackLayer::new([], nothing as _).with_observer(told.clone())
}

fn retry(told: &Told) -> RetryLayer {
    RetryLayer::new(RetryConfig::new().with_observer(told.clone()))
}

/// A layer that no service stands below yet.
#[derive(Clone)]
enum Any {
    Fallback(FallbackLayer<Answer>),
    CallLimit(CallLimitLayer),
    Key(KeyLayer),
    Retry(RetryLayer),
    Cooldown(CooldownLayer),
    Bulkhead(BulkheadLayer),
    Breaker(BreakerLayer),
    AttemptTimeout(AttemptTimeoutLayer),
    BodyTimeout(BodyTimeoutLayer),
    Propagate(PropagateLayer),
}

impl Any {
    /// The layer of this kind, with this observer where it can have one.
    fn of(kind: LayerKind, told: &Told) -> Self {
        let told = told.clone();
        match kind {
            LayerKind::Fallback => Self::Fallback(fallback(&told)),
            LayerKind::CallLimit => Self::CallLimit(CallLimitLayer::default()),
            LayerKind::Key => Self::Key(KeyLayer::new(KeyConfig::new(Routes::new()))),
            LayerKind::Retry => Self::Retry(retry(&told)),
            LayerKind::Cooldown => Self::Cooldown(CooldownLayer::new(
                CooldownConfig::default().with_observer(told),
            )),
            LayerKind::Bulkhead => Self::Bulkhead(BulkheadLayer::new(
                BulkheadConfig::default().with_observer(told),
            )),
            LayerKind::Breaker => Self::Breaker(BreakerLayer::new(
                BreakerConfig::default().with_observer(told),
            )),
            LayerKind::AttemptTimeout => Self::AttemptTimeout(AttemptTimeoutLayer::default()),
            LayerKind::BodyTimeout => Self::BodyTimeout(BodyTimeoutLayer::default()),
            LayerKind::Propagate => Self::Propagate(PropagateLayer::default()),
        }
    }

    fn around(&self, inner: Stack) -> Stack {
        fn boxed<S, R>(service: S) -> Stack
        where
            S: Service<Request<Body>, Response = Response<R>, Error: Into<BoxError>>
                + Clone
                + Send
                + 'static,
            S::Future: Send,
            R: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
        {
            let whole =
                |answer: Response<R>| answer.map(|body| body.map_err(Into::into).boxed_unsync());
            service
                .map_err(Into::into)
                .map_response(whole)
                .boxed_clone()
        }
        match self {
            Self::Fallback(layer) => boxed(layer.layer(inner)),
            Self::CallLimit(layer) => boxed(layer.layer(inner)),
            Self::Key(layer) => boxed(layer.layer(inner)),
            Self::Retry(layer) => boxed(layer.layer(inner.map_request(
                |request: Request<steadfast::retry::ReplayBody<Body>>| {
                    request.map(BodyExt::boxed_unsync)
                },
            ))),
            Self::Cooldown(layer) => boxed(layer.layer(inner)),
            Self::Bulkhead(layer) => boxed(layer.layer(inner)),
            Self::Breaker(layer) => boxed(layer.layer(inner)),
            Self::AttemptTimeout(layer) => boxed(layer.layer(inner)),
            Self::BodyTimeout(layer) => boxed(layer.layer(inner)),
            Self::Propagate(layer) => boxed(layer.layer(inner)),
        }
    }
}

/// These layers, from the outside, around `inner`.
fn stacked(kinds: &[LayerKind], told: &Told, inner: Stack) -> Stack {
    let layers = kinds.iter().rev().map(|kind| Any::of(*kind, told));
    layers.fold(inner, |inner, layer| layer.around(inner))
}

async fn call(stack: &Stack) {
    let answered = stack.clone().oneshot(request()).await.unwrap();
    assert_eq!(answered.status(), 200);
}

#[tokio::test(start_paused = true)]
async fn each_wrong_pair_is_told_once_however_often_it_is_called() {
    for pair in Misordered::all() {
        let told = Told::default();
        let mut kinds = vec![pair.outer, pair.inner];
        if pair.inner != LayerKind::Fallback {
            // Somebody with an observer, where neither of the two can have one.
            kinds.insert(0, LayerKind::Fallback);
        }
        let stack = stacked(&kinds, &told, peer());
        for _ in 0..3 {
            call(&stack).await;
        }
        assert_eq!(told.pairs(), [pair], "{pair}");
    }
}

#[tokio::test(start_paused = true)]
async fn pairs_that_do_no_harm_either_way_tell_nothing() {
    for outer in LayerKind::ALL {
        for inner in LayerKind::ALL {
            if Misordered::of(outer, inner).is_none() {
                let told = Told::default();
                call(&stacked(&[outer, inner], &told, peer())).await;
                assert_eq!(told.pairs(), [], "{inner} inside {outer}");
            }
        }
    }
}

/// The README's table, in the words of a user: no layer has an observer but retry.
#[tokio::test(start_paused = true)]
async fn a_retry_layer_is_told_of_every_wrong_order_around_and_below_it() {
    let peer = || service_fn(|_| async { Ok::<_, BoxError>(answer(200)) });
    let get = || request();
    let pair = |outer, inner| Misordered::of(outer, inner).unwrap();

    let told = Told::default();
    let key = KeyLayer::new(KeyConfig::new(Routes::new()));
    let stack = ServiceBuilder::new().layer(retry(&told)).layer(key);
    stack.service(peer()).oneshot(get()).await.unwrap();
    assert_eq!(told.pairs(), [pair(LayerKind::Retry, LayerKind::Key)]);

    let told = Told::default();
    let limit = CallLimitLayer::default();
    let stack = ServiceBuilder::new().layer(retry(&told)).layer(limit);
    stack.service(peer()).oneshot(get()).await.unwrap();
    assert_eq!(told.pairs(), [pair(LayerKind::Retry, LayerKind::CallLimit)]);

    let told = Told::default();
    let timeout = AttemptTimeoutLayer::default();
    let stack = ServiceBuilder::new().layer(timeout).layer(retry(&told));
    stack.service(peer()).oneshot(get()).await.unwrap();
    let around = pair(LayerKind::AttemptTimeout, LayerKind::Retry);
    assert_eq!(told.pairs(), [around]);

    let told = Told::default();
    let propagate = PropagateLayer::default();
    let stack = ServiceBuilder::new().layer(propagate).layer(retry(&told));
    stack.service(peer()).oneshot(get()).await.unwrap();
    assert_eq!(told.pairs(), [pair(LayerKind::Propagate, LayerKind::Retry)]);

    let told = Told::default();
    let bulkhead = BulkheadLayer::default();
    let stack = ServiceBuilder::new().layer(bulkhead).layer(retry(&told));
    stack.service(peer()).oneshot(get()).await.unwrap();
    assert_eq!(told.pairs(), [pair(LayerKind::Bulkhead, LayerKind::Retry)]);
}

#[tokio::test(start_paused = true)]
async fn the_right_order_tells_nothing_and_neither_do_two_whole_stacks() {
    let told = Told::default();
    let once = stacked(&LayerKind::ALL, &told, peer());
    call(&once).await;
    call(&stacked(&LayerKind::ALL, &told, once)).await;
    assert_eq!(told.pairs(), []);
}

#[tokio::test(start_paused = true)]
async fn later_attempts_and_what_they_call_tell_nothing() {
    let told = Told::default();
    let calls = Arc::new(AtomicUsize::new(0));
    let seen = calls.clone();
    let peer = service_fn(move |_: Request<Body>| {
        let first = seen.fetch_add(1, Ordering::Relaxed) == 0;
        async move { Ok(answer(if first { 503 } else { 200 })) }
    });
    call(&stacked(&LayerKind::ALL, &told, peer.boxed_clone())).await;
    assert_eq!(calls.load(Ordering::Relaxed), 2);
    assert_eq!(told.pairs(), []);
}

#[tokio::test(start_paused = true)]
async fn a_layer_that_is_off_stands_nowhere() {
    let told = Told::default();
    let off = BreakerConfig::default()
        .with_mode(Mode::Off)
        .with_observer(told.clone());
    let off = Any::Breaker(BreakerLayer::new(off));
    call(&off.around(stacked(&[LayerKind::Retry], &told, peer()))).await;
    call(&stacked(
        &[LayerKind::AttemptTimeout],
        &told,
        off.around(peer()),
    ))
    .await;
    assert_eq!(told.pairs(), []);
}

/// A service that calls another one while it is called itself.
#[tokio::test(start_paused = true)]
async fn a_call_of_its_own_is_set_apart_by_whoever_makes_it() {
    let told = Told::default();
    let other = stacked(&[LayerKind::CallLimit, LayerKind::Key], &told, peer());
    let gateway = |set_apart: bool| {
        let mut other = other.clone();
        service_fn(move |_: Request<Body>| match set_apart {
            true => apart(|| other.call(request())),
            false => other.call(request()),
        })
        .boxed_clone()
    };
    let outer = [LayerKind::Fallback, LayerKind::Retry];
    call(&stacked(&outer, &told, gateway(true))).await;
    assert_eq!(told.pairs(), []);
    call(&stacked(&outer, &told, gateway(false))).await;
    assert_eq!(
        told.pairs(),
        [Misordered::of(LayerKind::Retry, LayerKind::CallLimit).unwrap()]
    );
}

#[tokio::test(start_paused = true)]
async fn one_layer_value_tells_once_for_all_services_that_it_makes() {
    for (outer, inner) in [
        (LayerKind::AttemptTimeout, LayerKind::Retry),
        (LayerKind::AttemptTimeout, LayerKind::Breaker),
        (LayerKind::AttemptTimeout, LayerKind::Bulkhead),
        (LayerKind::Breaker, LayerKind::Cooldown),
        (LayerKind::AttemptTimeout, LayerKind::Fallback),
    ] {
        let told = Told::default();
        let teller = Any::of(inner, &told);
        let silent = Told::default();
        for layer in [&teller, &teller.clone()] {
            call(&Any::of(outer, &silent).around(layer.around(peer()))).await;
        }
        assert_eq!(told.pairs().len(), 1, "{inner} inside {outer}");
        // Another value of the same layer has not told yet.
        call(&Any::of(outer, &silent).around(Any::of(inner, &told).around(peer()))).await;
        assert_eq!(told.pairs().len(), 2, "{inner} inside {outer}");
        assert_eq!(silent.pairs(), []);
    }
}

/// What the documentation says is not seen.
#[tokio::test(start_paused = true)]
async fn a_buffer_or_a_function_that_calls_in_its_future_hides_the_order() {
    let told = Told::default();
    let below = || stacked(&[LayerKind::Key], &told, peer());
    let buffered = ServiceBuilder::new().buffer(8).service(below());
    call(&stacked(&[LayerKind::Retry], &told, buffered.boxed_clone())).await;
    let in_its_future = service_fn({
        let below = below();
        move |request: Request<Body>| below.clone().oneshot(request)
    });
    call(&stacked(
        &[LayerKind::Retry],
        &told,
        in_its_future.boxed_clone(),
    ))
    .await;
    assert_eq!(told.pairs(), []);
}
