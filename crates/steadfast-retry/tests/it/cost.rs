use std::future::{Future, Ready, ready};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use steadfast_core::budget::RatioBudget;
use steadfast_core::{Backoff, BoxError, Jitter, Ratio, Report};
use steadfast_retry::{ReplayBody, RetryConfig, RetryLayer};
use tower::{Layer, Service};

use crate::stack::full;

/// Answers at once and allocates nothing.
#[derive(Clone)]
struct AtOnce;

impl<B> Service<Request<B>> for AtOnce {
    type Response = Response<Full<Bytes>>;
    type Error = BoxError;
    type Future = Ready<Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<B>) -> Self::Future {
        ready(Ok(Response::default()))
    }
}

fn allocations(body: Full<Bytes>) -> u64 {
    let mut retry = RetryLayer::new(RetryConfig::default()).layer(AtOnce);
    let mut cx = Context::from_waker(Waker::noop());
    let mut call = |body| {
        assert!(Service::<Request<Full<Bytes>>>::poll_ready(&mut retry, &mut cx).is_ready());
        let call = pin!(retry.call(Request::new(body)));
        assert!(call.poll(&mut cx).is_ready());
    };
    // The first reading of the clock and of the environment are not the layer's.
    call(full(""));
    allocation_counter::measure(|| call(body)).count_total
}

#[tokio::test]
async fn an_idle_call_without_headers_extensions_and_body_allocates_nothing() {
    assert_eq!(allocations(full("")), 0);
}

#[tokio::test]
async fn a_body_of_one_frame_allocates_once() {
    assert_eq!(allocations(full("body")), 1);
}

/// Three for the state of the second attempt, three for the report in the answer, the failed
/// answer, and what the attempts before left.
#[tokio::test]
async fn a_repeat_at_once_allocates_eight_times() {
    let failed = AtomicBool::new(false);
    let once = tower::service_fn(|_: Request<ReplayBody<Full<Bytes>>>| {
        let mut answer = Response::new(full(""));
        if !failed.fetch_xor(true, Ordering::Relaxed) {
            *answer.status_mut() = http::StatusCode::SERVICE_UNAVAILABLE;
        }
        ready(Ok::<_, BoxError>(answer))
    });
    let at_once = Backoff::default()
        .with_base(Duration::ZERO)
        .with_jitter(Jitter::None);
    let config = RetryConfig::default()
        .with_backoff(at_once)
        .with_budget(RatioBudget::new(Ratio::ONE));
    let mut retry = RetryLayer::new(config).layer(once);
    let mut cx = Context::from_waker(Waker::noop());
    let mut call = || {
        assert!(retry.poll_ready(&mut cx).is_ready());
        let call = pin!(retry.call(Request::new(full(""))));
        let Poll::Ready(answer) = call.poll(&mut cx) else {
            panic!("nothing here waits")
        };
        let report = answer.unwrap().extensions().get::<Report>().copied();
        assert_eq!(report.unwrap().attempts, 2);
    };
    call();
    assert_eq!(allocation_counter::measure(call).count_total, 8);
}

#[test]
fn the_wrapped_body_stays_small() {
    let whole = size_of::<ReplayBody<Full<Bytes>>>();
    assert!(
        whole <= 2 * size_of::<Full<Bytes>>().max(32),
        "{whole} bytes"
    );
}
