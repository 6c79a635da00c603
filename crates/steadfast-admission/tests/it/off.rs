//! A layer that is off is as if it were not there, and still of the same type.

use std::convert::Infallible;
use std::fmt::Debug;
use std::future::{Future, Ready, ready};
use std::num::NonZeroU32;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use http::{Request, Response};
use http_body_util::Empty;
use steadfast_admission::arrivals::ArrivalsConfig;
use steadfast_admission::breaker::{BreakerConfig, Window};
use steadfast_admission::bulkhead::BulkheadConfig;
use steadfast_admission::cooldown::CooldownConfig;
use steadfast_admission::{ArrivalsLayer, BreakerLayer, BulkheadLayer, CooldownLayer, Mode};
use steadfast_core::{Event, Ratio};
use tower::layer::util::Identity;
use tower::util::ServiceFn;
use tower::{Layer, Service, service_fn};

use crate::MS;

type Answer = Result<Response<Empty<&'static [u8]>>, Infallible>;
type Peer = ServiceFn<fn(Request<()>) -> Ready<Answer>>;

const HOST: &str = "0.example";
const ONE: NonZeroU32 = NonZeroU32::MIN;

/// What every layer here has something to say about: a failure, and when to come back.
fn peer() -> Peer {
    service_fn(|_| {
        let answer = Response::builder().status(503).header("retry-after", "60");
        ready(Ok(answer.body(Empty::new()).unwrap()))
    })
}

fn nobody_is_told(event: &Event<'_>) {
    panic!("{event:?} was told");
}

/// Allocations of twenty later attempts, each at a destination of its own and its answer kept.
fn allocations<L, R>(layer: &L) -> u64
where
    L: Layer<Peer, Service: Service<Request<()>, Response = Response<R>, Error: Debug>>,
{
    let mut service = layer.layer(peer());
    let mut cx = Context::from_waker(Waker::noop());
    let mut kept = Vec::with_capacity(20);
    let counted = allocation_counter::measure(|| {
        for nth in 0..20 {
            let uri = format!("http://{nth}.example/");
            let request = Request::get(uri).header("steadfast-attempt", "2/3");
            let mut call = pin!(service.call(request.body(()).unwrap()));
            let Poll::Ready(answer) = call.as_mut().poll(&mut cx) else {
                panic!("it waits");
            };
            kept.push(answer.unwrap());
        }
    });
    assert!(kept.iter().all(|answer| answer.status() == 503));
    counted.count_total
}

// No runtime is here: nothing waits.
fn assert_is_not_there<L, R>(layer: &L)
where
    L: Layer<Peer, Service: Service<Request<()>, Response = Response<R>, Error: Debug>>,
{
    assert_eq!(allocations(layer), allocations(&Identity::new()));
}

#[test]
fn a_breaker_that_is_off_counts_nothing_and_knows_nobody() {
    let config = BreakerConfig::default()
        .with_window(Window::default().with_minimum(ONE).unwrap())
        .with_slow_calls(MS, Ratio::ZERO)
        .with_observer(nobody_is_told)
        .with_mode(Mode::Off);
    let layer = BreakerLayer::new(config);
    assert_is_not_there(&layer);
    assert_eq!(layer.handle().circuits(), 0);
}

#[test]
fn a_breaker_that_is_off_lets_calls_pass_whatever_is_set_by_hand() {
    let config = BreakerConfig::default().with_mode(Mode::Off);
    let layer = BreakerLayer::new(config);
    layer.handle().hold_open(HOST);
    assert_is_not_there(&layer);
}

#[test]
fn a_bulkhead_that_is_off_holds_no_place_and_delays_nobody() {
    let config = BulkheadConfig::default()
        .with_limit(ONE)
        .with_max_wait(MS)
        .with_observer(nobody_is_told)
        .with_mode(Mode::Off);
    let layer = BulkheadLayer::new(config);
    assert_is_not_there(&layer);
    assert_eq!(layer.handle().in_flight(HOST), 0);
}

#[test]
fn a_cooldown_that_is_off_hears_nothing() {
    let config = CooldownConfig::default()
        .with_observer(nobody_is_told)
        .with_mode(Mode::Off);
    let layer = CooldownLayer::new(config);
    assert_is_not_there(&layer);
    assert_eq!(layer.handle().remaining(HOST), None);
    layer.handle().cool(HOST, 1000 * MS);
    assert_is_not_there(&layer);
}

#[test]
fn arrivals_that_are_off_let_every_retry_pass() {
    let config = ArrivalsConfig::default()
        .with_share(Ratio::ZERO)
        .with_minimum(ONE)
        .with_observer(nobody_is_told)
        .with_mode(Mode::Off);
    assert_is_not_there(&ArrivalsLayer::new(config));
}
