use std::convert::Infallible;
use std::future::{Ready, pending, ready};
use std::pin::pin;
use std::task::{Context, Waker};

use http::{Request, Response};
use steadfast_deadline::{AttemptTimeout, ResponseFuture};
use tower::{Service, service_fn};

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
