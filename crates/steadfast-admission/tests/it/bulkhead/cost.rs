//! What a call costs that finds its place.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;

use http::{Request, Response};
use http_body_util::Empty;
use steadfast_admission::bulkhead::{BulkheadBody, BulkheadFuture};
use steadfast_admission::{BulkheadLayer, Scope};
use tower::{Layer, Service, service_fn};

use super::{get, limit};

type Answer = Result<Response<Empty<&'static [u8]>>, Infallible>;

/// Allocations of one call that is answered at once, after one that made what is kept.
fn allocations(layer: &BulkheadLayer, host: &str) -> u64 {
    let answer = |_| ready(Answer::Ok(Response::new(Empty::new())));
    let mut service = layer.layer(service_fn(answer));
    let mut cx = Context::from_waker(Waker::noop());
    let mut one = |request: Request<()>| {
        let call = pin!(service.call(request));
        assert!(Future::poll(call, &mut cx).is_ready());
    };
    one(get(host));
    let request = get(host);
    allocation_counter::measure(move || one(request)).count_total
}

// No runtime is here: a timer would panic.
#[test]
fn a_call_that_is_let_in_at_once_allocates_nothing() {
    for max_wait in [Duration::ZERO, Duration::from_secs(1)] {
        let config = limit(1).with_max_wait(max_wait);
        let one = BulkheadLayer::new(config.clone().with_scope(Scope::Layer));
        assert_eq!(allocations(&one, "a.example"), 0);
        let keyed = BulkheadLayer::new(config);
        assert_eq!(allocations(&keyed, "a.example:8443"), 0);
    }
}

#[test]
fn the_future_and_the_body_stay_small() {
    type Inner = Ready<Answer>;
    let own = size_of::<BulkheadFuture<(), Inner, ()>>() - size_of::<Inner>();
    assert!(own <= 16, "{own} bytes beside the inner future");
    assert_eq!(size_of::<BulkheadBody<()>>(), size_of::<usize>());
}
