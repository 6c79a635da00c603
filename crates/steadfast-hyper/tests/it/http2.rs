use std::net::SocketAddr;

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use steadfast_core::{Delivery, Verdict};
use steadfast_hyper::LeafBody;
use steadfast_kit::{ErrorCode, Http2Server, Reply};

use crate::wrapped::verdict;

const UNKNOWN: Verdict = Verdict::Transient(Delivery::Unknown);

/// The verdict on a request to a peer that replies so and then closes.
async fn after(reply: Reply) -> Verdict {
    let server = Http2Server::start([reply.and_close()]).await.unwrap();
    let verdict = ask(server.addr()).await;
    assert_eq!((server.requests().len(), server.connections()), (1, 1));
    verdict
}

async fn ask(addr: SocketAddr) -> Verdict {
    let client = Client::builder(TokioExecutor::new())
        .http2_only(true)
        .build_http::<LeafBody>();
    let request = Request::post(format!("http://{addr}/pay"))
        .body(LeafBody::default())
        .unwrap();
    verdict(client.request(request).await.unwrap_err())
}

#[tokio::test]
async fn a_refused_stream_was_not_processed() {
    assert_eq!(
        after(Reply::reset(ErrorCode::REFUSED_STREAM)).await,
        Verdict::Refused
    );
}

#[tokio::test]
async fn after_any_other_reset_nothing_is_known() {
    for code in [
        ErrorCode::NO_ERROR,
        ErrorCode::INTERNAL_ERROR,
        ErrorCode::CANCEL,
        ErrorCode::ENHANCE_YOUR_CALM,
        ErrorCode::HTTP_1_1_REQUIRED,
    ] {
        assert_eq!(after(Reply::reset(code)).await, UNKNOWN, "{code:?}");
    }
}

#[tokio::test]
async fn a_stream_above_the_last_of_a_graceful_goaway_was_not_processed() {
    assert_eq!(
        after(Reply::go_away(0, ErrorCode::NO_ERROR)).await,
        Verdict::Refused
    );
}

#[tokio::test]
async fn a_stream_that_the_goaway_includes_may_have_been_processed() {
    assert_eq!(after(Reply::go_away(1, ErrorCode::NO_ERROR)).await, UNKNOWN);
}

#[tokio::test]
async fn after_a_goaway_with_an_error_nothing_is_known() {
    for code in [
        ErrorCode::INTERNAL_ERROR,
        ErrorCode::REFUSED_STREAM,
        ErrorCode::ENHANCE_YOUR_CALM,
    ] {
        assert_eq!(after(Reply::go_away(0, code)).await, UNKNOWN, "{code:?}");
        assert_eq!(after(Reply::go_away(1, code)).await, UNKNOWN, "{code:?}");
    }
}

#[tokio::test]
async fn a_connection_that_closes_says_nothing() {
    assert_eq!(after(Reply::stall()).await, UNKNOWN);
}

#[tokio::test]
async fn a_request_that_http_2_cannot_carry_is_permanent() {
    let server = Http2Server::start([]).await.unwrap();
    let client = Client::builder(TokioExecutor::new())
        .http2_only(true)
        .build_http();
    let body = LeafBody::new(Full::new(Bytes::from("1234")));
    let request = Request::connect(server.url("")).body(body).unwrap();
    let error = client.request(request).await.unwrap_err();
    assert_eq!(verdict(error), Verdict::Permanent(Delivery::Unsent));
}
