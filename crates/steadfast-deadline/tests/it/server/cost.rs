//! What the layer costs where it has nothing to do.

use std::future::{Ready, ready};
use std::pin::pin;
use std::task::{Context, Waker};

use steadfast_deadline::server::ResponseFuture;
use tower::{Service, service_fn};

use super::*;

// No runtime is here: a timer would panic.
#[test]
fn without_header_and_maximum_nothing_is_allocated_and_no_timer_is_made() {
    let handler = |_: Request<()>| ready(Ok::<_, Infallible>(Response::new(())));
    let mut service = served(InboundConfig::new(), service_fn(handler));
    let mut cx = Context::from_waker(Waker::noop());
    let counted = allocation_counter::measure(|| {
        let answer = pin!(service.call(Request::new(())));
        assert!(Future::poll(answer, &mut cx).is_ready());
    });
    assert_eq!(counted.count_total, 0);
}

#[test]
fn the_future_stays_small() {
    type Inner = Ready<Result<Response<()>, Infallible>>;
    let own = size_of::<ResponseFuture<Inner>>() - size_of::<Inner>();
    assert!(own <= 384, "{own} bytes beside the inner future");
}
