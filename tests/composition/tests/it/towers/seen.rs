//! What tower-http's trace and request ids see of calls and attempts.

use http::{HeaderName, HeaderValue, Request};
use tower_http::request_id::{
    MakeRequestId, PropagateRequestIdLayer, RequestId, SetRequestIdLayer,
};

use crate::pairs::asked::*;
use crate::pairs::layers::*;
use crate::pairs::peer::{Does, Peer};
use crate::pairs::server::{Count, trace};
use crate::pairs::stack;

const ID: HeaderName = HeaderName::from_static("x-request-id");

/// 1, 2, 3, …
#[derive(Clone, Debug, Default)]
struct Counted(Count);

impl MakeRequestId for Counted {
    fn make_request_id<B>(&mut self, _: &Request<B>) -> Option<RequestId> {
        self.0.one();
        let id = HeaderValue::from_str(&self.0.get().to_string()).unwrap();
        Some(RequestId::new(id))
    }
}

fn ids() -> SetRequestIdLayer<Counted> {
    SetRequestIdLayer::new(ID, Counted::default())
}

#[tokio::test(start_paused = true)]
async fn a_trace_outside_retry_sees_calls_and_inside_attempts() {
    let fails_once = || Peer::new([Does::Says(503), Does::Says(200)]);
    let (peer, calls) = (fails_once(), Count::default());
    let outside = stack!(trace!(calls), retry(); peer);
    assert_eq!(status(outside.ask(get()).await), 200);
    let (peer, attempts) = (fails_once(), Count::default());
    let inside = stack!(retry(), trace!(attempts); peer);
    assert_eq!(status(inside.ask(get()).await), 200);
    assert_eq!((calls.get(), attempts.get()), (1, 2));
}

#[tokio::test(start_paused = true)]
async fn a_trace_outside_the_breaker_sees_no_refusal_as_an_answer() {
    for outside in [true, false] {
        let (peer, saw) = (Peer::new([Does::Says(503)]), Count::default());
        let ended = match outside {
            true => {
                let stack = stack!(trace!(saw), breaker(); peer);
                assert_eq!(status(stack.ask(get()).await), 503);
                stack.ask(get()).await
            }
            false => {
                let stack = stack!(breaker(), trace!(saw); peer);
                assert_eq!(status(stack.ask(get()).await), 503);
                stack.ask(get()).await
            }
        };
        assert_eq!(reason(&ended), Some(steadfast::Reason::CircuitOpen));
        assert_eq!(saw.get(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_id_from_outside_retry_is_the_calls_and_from_inside_each_attempts() {
    let fails_once = || Peer::new([Does::Says(503), Does::Says(200)]);
    let peer = fails_once();
    let outside = stack!(ids(), PropagateRequestIdLayer::new(ID), retry(); peer);
    let head = outside.ask(get()).await.unwrap();
    assert_eq!(peer.told("x-request-id"), ["1", "1"]);
    assert_eq!(head.headers[ID], "1");

    let peer = fails_once();
    let inside = stack!(retry(), ids(), PropagateRequestIdLayer::new(ID); peer);
    let head = inside.ask(get()).await.unwrap();
    assert_eq!(peer.told("x-request-id"), ["1", "2"]);
    assert_eq!(head.headers[ID], "2");
}
