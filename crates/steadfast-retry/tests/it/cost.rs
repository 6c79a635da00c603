use std::future::{Future, Ready, ready};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use steadfast_core::BoxError;
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

#[test]
fn the_wrapped_body_stays_small() {
    let whole = size_of::<ReplayBody<Full<Bytes>>>();
    assert!(
        whole <= 2 * size_of::<Full<Bytes>>().max(32),
        "{whole} bytes"
    );
}
