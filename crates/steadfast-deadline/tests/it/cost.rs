use std::convert::Infallible;
use std::future::{Ready, pending, ready};
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;

use http::{Request, Response};
use steadfast_deadline::{
    AttemptTimeout, BodyTimeoutLayer, CallFuture, CallLimit, PropagateFuture, PropagateLayer,
    ResponseFuture, TimedBody,
};
use tower::{Layer, Service, service_fn};

use crate::{MS, due, in_time};

// No runtime is here: a timer would panic.
#[test]
fn an_answer_at_once_takes_no_timer() {
    let answer = |_: Request<()>| ready(Ok::<_, Infallible>("now"));
    let mut service = AttemptTimeout::new(service_fn(answer), 100 * MS);
    for request in [Request::new(()), due(in_time(50 * MS))] {
        let mut attempt = tokio_test::task::spawn(service.call(request));
        assert_eq!(tokio_test::assert_ready!(attempt.poll()).unwrap(), "now");
    }
}

#[test]
fn nothing_is_allocated_for_an_answer_at_once() {
    let answer = |_: Request<()>| ready(Ok::<_, Infallible>(Response::new(())));
    let mut service = AttemptTimeout::new(service_fn(answer), 100 * MS);
    let mut cx = Context::from_waker(Waker::noop());
    let counted = allocation_counter::measure(|| {
        let attempt = pin!(service.call(Request::new(())));
        assert!(Future::poll(attempt, &mut cx).is_ready());
    });
    assert_eq!(counted.count_total, 0);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_allocated_for_a_timer_either() {
    let mut service = AttemptTimeout::new(service_fn(|_| pending::<Result<(), Infallible>>()), MS);
    let mut cx = Context::from_waker(Waker::noop());
    let counted = allocation_counter::measure(|| {
        let attempt = pin!(service.call(Request::new(())));
        assert!(Future::poll(attempt, &mut cx).is_pending());
    });
    assert_eq!(counted.count_total, 0);
}

#[test]
fn the_future_stays_small() {
    type Inner = Ready<Result<(), Infallible>>;
    let own = size_of::<ResponseFuture<Inner>>() - size_of::<Inner>();
    assert!(own <= 192, "{own} bytes beside the inner future");
}

/// Allocations of one call that is answered at once.
fn allocations<S>(mut service: S) -> u64
where
    S: Service<Request<()>, Error: std::fmt::Debug>,
{
    let mut cx = Context::from_waker(Waker::noop());
    let request = Request::new(());
    let counted = allocation_counter::measure(move || {
        let call = pin!(service.call(request));
        assert!(Future::poll(call, &mut cx).is_ready());
    });
    counted.count_total
}

fn answering() -> impl Service<Request<()>, Response = Response<String>, Error = Infallible> {
    service_fn(|_| ready(Ok(Response::new(String::new()))))
}

// No runtime is here: a timer would panic.
#[test]
fn idle_layers_allocate_nothing() {
    assert_eq!(allocations(CallLimit::new(answering(), Duration::MAX)), 0);
    assert_eq!(
        allocations(BodyTimeoutLayer::default().layer(answering())),
        0
    );
    assert_eq!(allocations(PropagateLayer::default().layer(answering())), 0);
}

// The state travels with the request, so that it also reaches layers behind a queue or a task.
#[test]
fn a_call_limit_allocates_the_state_that_carries_the_deadline_and_nothing_else() {
    let state = allocation_counter::measure(|| {
        drop(due(in_time(MS)));
    });
    assert_eq!(state.count_total, 3);
    assert_eq!(allocations(CallLimit::new(answering(), MS)), 3);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_waits_allocates_its_timer_once() {
    let answer = |_: Request<()>| ready(Ok::<_, Infallible>(Response::new(Silent)));
    let mut service = BodyTimeoutLayer::default().layer(service_fn(answer));
    let body = service.call(Request::new(())).await.unwrap().into_body();
    let mut body = pin!(body);
    let mut cx = Context::from_waker(Waker::noop());
    let counted = allocation_counter::measure(|| {
        for _ in 0..3 {
            assert!(http_body::Body::poll_frame(body.as_mut(), &mut cx).is_pending());
        }
    });
    assert_eq!(counted.count_total, 1);
}

/// A body that never says anything.
struct Silent;

impl http_body::Body for Silent {
    type Data = bytes::Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: std::pin::Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<bytes::Bytes>, Infallible>>> {
        std::task::Poll::Pending
    }
}

#[test]
fn the_other_futures_and_the_body_stay_small() {
    type Inner = Ready<Result<(), Infallible>>;
    for (own, most) in [
        (size_of::<CallFuture<Inner>>(), 192),
        (size_of::<PropagateFuture<Inner>>(), 32),
        (size_of::<TimedBody<()>>(), 128),
    ] {
        assert!(own <= most, "{own} bytes");
    }
}
