//! Streams that the peer says it never processed.

use bytes::Bytes;
use http::{HeaderValue, Method, Request};
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use steadfast::budget::{Ask, Budget, RatioBudget};
use steadfast::retry::{Retry, RetryConfig, RetryLayer};
use steadfast::{BoxError, Failure, Outcome, Ratio, Reason};
use steadfast_kit::{ErrorCode, Http2Server, Reply};
use tower::{Layer, ServiceExt};

use crate::sockets_reused::request;
use crate::stack::*;

fn http2(config: RetryConfig) -> Retry<Hyper<Full<Bytes>>> {
    let client = Client::builder(TokioExecutor::new())
        .http2_only(true)
        .build_http();
    RetryLayer::new(config).layer(client)
}

async fn post(server: &Http2Server, config: RetryConfig) -> Answered {
    http2(config)
        .oneshot(request(&Method::POST, &server.url("/pay")))
        .await
}

fn budget() -> RatioBudget {
    RatioBudget::new(Ratio::ZERO).with_minimum_per_second(Ratio::ONE)
}

/// Retries that may still be sent, of the ten that the budget has.
fn left(budget: &RatioBudget) -> usize {
    let ask = Ask::new(tokio::time::Instant::now().into_std());
    std::iter::from_fn(|| budget.reserve(ask).map(|mut permit| permit.sent())).count()
}

fn refused() -> Reply {
    Reply::reset(ErrorCode::REFUSED_STREAM)
}

/// O-13.
#[tokio::test]
async fn a_refused_stream_is_sent_again_whole_whatever_the_method() {
    for refused in [refused(), refused().early()] {
        let server = Http2Server::start([refused, Reply::answer(201, &[], "paid")])
            .await
            .unwrap();
        let budget = budget();
        let answered = post(&server, config().with_budget(budget.clone())).await;
        assert_eq!(text(answered).await, "paid");
        let seen = server.requests();
        assert_eq!((seen.len(), server.connections()), (2, 1));
        assert_eq!(seen[1].body, "amount=1");
        assert!(
            seen[1].ended && "amount=1".starts_with(std::str::from_utf8(&seen[0].body).unwrap())
        );
        assert_eq!(left(&budget), 9, "the repeat is paid for");
    }
}

/// O-13, O-16.
#[tokio::test]
async fn a_stream_above_the_last_of_a_goaway_is_sent_again_on_another_connection() {
    let goes = Reply::go_away(0, ErrorCode::NO_ERROR).and_close();
    let server = Http2Server::start([goes, Reply::answer(201, &[], "paid")])
        .await
        .unwrap();
    let mut request = request(&Method::POST, &server.url("/pay"));
    for (name, value) in [
        ("x-tag", "1"),
        ("content-digest", "sha-256=:x:"),
        ("x-tag", "2"),
    ] {
        request
            .headers_mut()
            .append(name, HeaderValue::from_static(value));
    }
    let answered = http2(config()).oneshot(request).await;
    assert_eq!(text(answered).await, "paid");
    let seen = server.requests();
    assert_eq!((seen.len(), server.connections()), (2, 2));
    assert_eq!((seen[0].stream, seen[1].stream), (1, 1));
    assert_eq!(seen[0].block, seen[1].block, "the same head, byte by byte");
    assert_eq!(
        (&seen[0].body, &seen[1].body),
        (&"amount=1".into(), &"amount=1".into())
    );
}

/// O-13: the stream is one that the peer may have processed.
#[tokio::test]
async fn a_stream_that_a_goaway_includes_is_not_sent_again() {
    let goes = Reply::go_away(1, ErrorCode::NO_ERROR).and_close();
    let server = Http2Server::start([goes, Reply::answer(201, &[], "paid")])
        .await
        .unwrap();
    let error = post(&server, config()).await.unwrap_err();
    assert_eq!(
        reason(&error),
        (Some(Reason::Unprotected), Outcome::Unknown)
    );
    assert_eq!(server.requests().len(), 1);
}

/// O-13.
#[tokio::test]
async fn a_peer_that_refuses_for_ever_is_asked_one_time_more_than_configured_and_paid_for() {
    let server = Http2Server::start((0..20).map(|_| refused()))
        .await
        .unwrap();
    let paid = budget();
    let error = post(&server, config().with_budget(paid.clone()))
        .await
        .unwrap_err();
    assert_eq!(
        reason(&error),
        (Some(Reason::AttemptsExhausted), Outcome::NotApplied)
    );
    assert_eq!(server.requests().len(), 4);
    assert_eq!(left(&paid), 10 - 3);

    let server = Http2Server::start((0..20).map(|_| refused()))
        .await
        .unwrap();
    let spent = RatioBudget::new(Ratio::ZERO);
    let error = post(&server, config().with_budget(spent))
        .await
        .unwrap_err();
    assert_eq!(
        reason(&error),
        (Some(Reason::BudgetExhausted), Outcome::NotApplied)
    );
    assert_eq!(server.requests().len(), 1);
}

/// After any other reset a POST may have had its effect.
#[tokio::test]
async fn another_reset_is_repeated_for_safe_methods_only() {
    let replies = || {
        [
            Reply::reset(ErrorCode::CANCEL),
            Reply::answer(200, &[], "done"),
        ]
    };
    let server = Http2Server::start(replies()).await.unwrap();
    let error = post(&server, config()).await.unwrap_err();
    assert_eq!(
        reason(&error),
        (Some(Reason::Unprotected), Outcome::Unknown)
    );

    let server = Http2Server::start(replies()).await.unwrap();
    let request: Request<_> = request(&Method::PUT, &server.url("/doc"));
    let answered = http2(config()).oneshot(request).await;
    assert_eq!(text(answered).await, "done");
    assert_eq!(server.requests()[0].body, server.requests()[1].body);
}

fn reason(error: &BoxError) -> (Option<Reason>, Outcome) {
    let report = Failure::find(&**error).unwrap().report();
    (report.reason, report.outcome)
}
