//! What an idle stack allocates.

use std::convert::Infallible;
use std::future::{Future, Ready, ready};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{Empty, Full};
use steadfast::client::{Draft, Profile, StandardLayer};
use tower::{Layer, Service};

#[derive(Clone)]
struct AtOnce;

impl<B> Service<Request<B>> for AtOnce {
    type Response = Response<Empty<Bytes>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<B>) -> Self::Future {
        ready(Ok(Response::new(Empty::new())))
    }
}

fn allocations(layer: &StandardLayer) -> u64 {
    let mut client = layer.layer(AtOnce);
    let mut cx = Context::from_waker(Waker::noop());
    let mut call = || {
        let mut request = Request::new(Full::<Bytes>::default());
        *request.uri_mut() = http::Uri::from_static("http://a.example/");
        assert!(Service::<Request<Full<Bytes>>>::poll_ready(&mut client, &mut cx).is_ready());
        let mut call = pin!(client.call(request));
        assert!(call.as_mut().poll(&mut cx).is_ready());
    };
    // The first call makes the destination's states.
    call();
    allocation_counter::measure(call).count_total
}

/// Three for the call's state, which holds its deadline, and one for its copy, of which another
/// attempt would be made; three for the header that tells the time left.
#[tokio::test(start_paused = true)]
async fn a_standard_call_allocates_for_its_state_and_the_header_it_tells() {
    assert_eq!(allocations(&StandardLayer::default()), 7);
}

#[tokio::test(start_paused = true)]
async fn without_a_limit_to_tell_it_allocates_nothing() {
    let endless = Draft::of(Profile::Default).with_call_limit(std::time::Duration::MAX);
    let layer = StandardLayer::new(endless.check().unwrap());
    assert_eq!(allocations(&layer), 0);
}
