//! What the caller gets in the end, on a real connection (O-17).

use std::io;

use hyper_util::client::legacy;
use steadfast::budget::RatioBudget;
use steadfast::retry::RetryConfig;
use steadfast::{CallState, Failure, Outcome, Ratio, Reason, Report, Safety, chain};
use steadfast_kit::ScriptedServer;

use crate::stack::*;

/// A budget that two retries of one call fit into.
fn roomy() -> RetryConfig {
    config().with_budget(RatioBudget::new(Ratio::percent(200).unwrap()))
}

#[tokio::test]
async fn the_last_answer_comes_back_readable_with_its_headers() {
    let server = ScriptedServer::start([
        answer("503 Service Unavailable", &["x-which: a"], "A"),
        reset(),
        answer("503 Service Unavailable", &["x-which: b"], "B"),
    ])
    .await
    .unwrap();
    let answered = send(&plain(roomy()), get(&server.url("/"))).await;
    let head = answered.as_ref().unwrap();
    assert_eq!(head.status(), 503);
    assert_eq!(head.headers()["x-which"], "b");
    let report = head.extensions().get::<Report>().unwrap();
    assert_eq!(
        (report.attempts, report.reason),
        (3, Some(Reason::AttemptsExhausted))
    );
    assert_eq!(text(answered).await, "B");
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn the_last_error_is_found_by_type_beside_the_report() {
    let server = ScriptedServer::start([
        answer("503 Service Unavailable", &[], "A"),
        answer("503 Service Unavailable", &[], "B"),
        reset(),
    ])
    .await
    .unwrap();
    let error = send(&plain(roomy()), get(&server.url("/")))
        .await
        .unwrap_err();
    let report = *Failure::find(&*error).unwrap().report();
    assert_eq!((report.attempts, report.outcome), (3, Outcome::Unknown));
    assert_eq!(report.reason, Some(Reason::AttemptsExhausted));

    assert!(
        chain(&*error).any(|cause| cause.is::<legacy::Error>()),
        "hyper-util's own error"
    );
    let io = chain(&*error).find_map(|cause| cause.downcast_ref::<io::Error>());
    assert_eq!(io.unwrap().kind(), io::ErrorKind::ConnectionReset);
}

/// A body too long to be kept does not turn the answer into a complaint about the body.
#[tokio::test]
async fn the_answer_to_a_body_that_cannot_be_sent_again_is_the_servers() {
    let server = ScriptedServer::start([answer("429 Too Many Requests", &[], "slower, please")])
        .await
        .unwrap();
    let mut request = http::Request::put(server.url("/"))
        .body(http_body_util::Full::from("too long to keep"))
        .unwrap();
    CallState::edit(request.extensions_mut(), |state| {
        state.set_safety(Safety::Idempotent)
    });
    let answered = send(&plain(config().with_replay_limit(4)), request).await;
    let head = answered.as_ref().unwrap();
    assert_eq!(head.status(), 429);
    let report = head.extensions().get::<Report>().unwrap();
    assert_eq!(
        (report.attempts, report.reason),
        (1, Some(Reason::BodyNotReplayable))
    );
    assert_eq!(text(answered).await, "slower, please");
}
