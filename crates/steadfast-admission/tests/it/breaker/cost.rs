use std::convert::Infallible;
use std::future::{Future, ready};
use std::pin::pin;
use std::task::{Context, Waker};

use http::{Request, Response};
use http_body_util::Empty;
use steadfast_admission::Scope;
use steadfast_admission::breaker::BreakerFuture;
use tower::{Service, service_fn};

use super::*;

#[test]
fn a_closed_circuit_allocates_nothing() {
    let answer = |_: Request<()>| ready(Ok::<_, Infallible>(Response::new(Empty::<&[u8]>::new())));
    for scope in [Scope::Layer, Scope::Destination] {
        let layer = BreakerLayer::new(BreakerConfig::default().with_scope(scope));
        let mut service = layer.layer(service_fn(answer));
        let mut cx = Context::from_waker(Waker::noop());
        let mut call = || {
            let call = pin!(service.call(Request::new(())));
            assert!(Future::poll(call, &mut cx).is_ready());
        };
        call();
        assert_eq!(allocation_counter::measure(call).count_total, 0);
    }
}

#[test]
fn the_future_stays_small() {
    type Inner = std::future::Ready<Result<Response<Empty<&'static [u8]>>, Infallible>>;
    let own = size_of::<BreakerFuture<Inner>>() - size_of::<Inner>();
    assert!(own <= 72, "{own} bytes beside the inner future");
}
