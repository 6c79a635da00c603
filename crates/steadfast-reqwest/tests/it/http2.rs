//! What an HTTP/2 peer makes of a call.

use http::Request;
use http_body_util::BodyExt;
use steadfast_core::Verdict;
use steadfast_kit::{ErrorCode, Http2Server, Reply};
use tower::ServiceExt;

use crate::wrapped::*;

/// The verdict on a request to a peer that replies so and then closes. That the peer saw one
/// request shows that reqwest sent no second one by itself.
async fn after(reply: Reply) -> Verdict {
    let server = Http2Server::start([reply.and_close()]).await.unwrap();
    let request = Request::post(server.url("/pay")).body(full("")).unwrap();
    let verdict = verdict(http2().oneshot(request).await.unwrap_err());
    assert_eq!((server.requests().len(), server.connections()), (1, 1));
    verdict
}

#[tokio::test]
async fn a_refused_stream_was_not_processed() {
    let refused = Reply::reset(ErrorCode::REFUSED_STREAM);
    assert_eq!(after(refused).await, Verdict::Refused);
}

#[tokio::test]
async fn after_any_other_reset_nothing_is_known() {
    for code in [
        ErrorCode::NO_ERROR,
        ErrorCode::INTERNAL_ERROR,
        ErrorCode::CANCEL,
        ErrorCode::ENHANCE_YOUR_CALM,
    ] {
        assert_eq!(after(Reply::reset(code)).await, UNKNOWN, "{code:?}");
    }
}

#[tokio::test]
async fn a_stream_above_the_last_of_a_graceful_goaway_was_not_processed() {
    let above = Reply::go_away(0, ErrorCode::NO_ERROR);
    assert_eq!(after(above).await, Verdict::Refused);
    let included = Reply::go_away(1, ErrorCode::NO_ERROR);
    assert_eq!(after(included).await, UNKNOWN);
    let failed = Reply::go_away(0, ErrorCode::INTERNAL_ERROR);
    assert_eq!(after(failed).await, UNKNOWN);
}

#[tokio::test]
async fn a_refusal_in_the_middle_of_an_answer_is_none() {
    let cut = Reply::cut(200, "half", ErrorCode::REFUSED_STREAM);
    let server = Http2Server::start([cut]).await.unwrap();
    let request = Request::post(server.url("/pay")).body(full("")).unwrap();
    let answer = http2().oneshot(request).await.unwrap();
    let error = answer.into_body().collect().await.unwrap_err();
    assert_eq!(verdict(error), UNKNOWN, "the peer had begun to answer");
}

#[tokio::test]
async fn trailers_of_an_answer_arrive() {
    let reply = Reply::answer_with_trailers(200, &[], "body", &[("grpc-status", "0")]);
    let server = Http2Server::start([reply]).await.unwrap();
    let request = Request::post(server.url("/call")).body(full("")).unwrap();
    let answer = http2().oneshot(request).await.unwrap();
    let body = answer.into_body().collect().await.unwrap();
    assert_eq!(body.trailers().unwrap()["grpc-status"], "0");
    assert_eq!(body.to_bytes(), "body");
}
