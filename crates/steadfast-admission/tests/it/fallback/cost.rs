use std::convert::Infallible;
use std::future::{Ready, ready};
use std::pin::pin;
use std::task::{Context, Waker};

use steadfast_admission::fallback::FallbackFuture;
use tower::{Service, service_fn};

use super::*;

fn allocations<S: Service<Request<()>>>(mut service: S, request: Request<()>) -> u64 {
    let mut cx = Context::from_waker(Waker::noop());
    let counted = allocation_counter::measure(move || {
        let call = pin!(service.call(request));
        assert!(Future::poll(call, &mut cx).is_ready());
    });
    counted.count_total
}

#[test]
fn an_idle_layer_allocates_nothing() {
    let peer = service_fn(|_| ready(Ok::<_, Infallible>(Response::new(()))));
    let layer = layer(Reason::ALL).with_answers();
    for layer in [layer.clone(), layer.with_observer(())] {
        let request = Request::get("http://a.example/").body(()).unwrap();
        assert_eq!(allocations(layer.layer(peer), request), 0);
    }
}

#[test]
fn the_future_and_the_body_stay_small() {
    type Inner = Ready<Result<(), Infallible>>;
    let future = size_of::<FallbackFuture<Inner, StandIn>>() - size_of::<Inner>();
    assert!(future <= 88, "{future} bytes beside the inner future");
    let body = size_of::<FallbackBody<[u64; 8]>>() - size_of::<[u64; 8]>();
    assert!(body <= 8, "{body} bytes beside the inner body");
}
