//! What a server says about coming back, on a real connection.

use std::time::Duration;

use steadfast::Reason;
use steadfast_kit::{Script, ScriptedServer};
use tokio::time::Instant;

use crate::stack::*;

/// Far above every wait here, far below every hint that must not be waited for.
const SOON: Duration = Duration::from_secs(20);

/// A server that says this once and then 200.
async fn server(status: &str, headers: &[&str]) -> ScriptedServer {
    ScriptedServer::start([
        answer(status, headers, "not now"),
        answer("200 OK", &[], "now"),
    ])
    .await
    .unwrap()
}

/// O-01.
#[tokio::test]
async fn a_fractional_hint_is_waited_for_in_full() {
    for (value, millis) in [("0.0129", 12.9), ("0.0503", 50.3)] {
        for status in ["429 Too Many Requests", "503 Service Unavailable"] {
            let server = server(status, &[&format!("retry-after: {value}")]).await;
            let began = Instant::now();
            let answered = send(&plain(config()), get(&server.url("/"))).await;
            let took = began.elapsed().as_secs_f64() * 1e3;
            assert_eq!(text(answered).await, "now");
            assert_eq!(server.requests().len(), 2);
            assert!(took >= millis, "{value}: {took} ms");
        }
    }
}

/// O-02: negative, past and zero are no wait of the server's.
#[tokio::test]
async fn a_hint_that_is_negative_or_over_leaves_the_own_wait() {
    for value in ["-1", "-43", "Wed, 21 Oct 2015 07:28:00 GMT", "0"] {
        let server = server("429 Too Many Requests", &[&format!("retry-after: {value}")]).await;
        let began = Instant::now();
        let answered = send(&plain(config()), get(&server.url("/"))).await;
        let took = began.elapsed();
        assert_eq!(text(answered).await, "now", "{value}");
        assert_eq!(server.requests().len(), 2, "{value}");
        assert!(WAIT <= took && took < SOON, "{value}: {took:?}");
    }
}

/// O-02: too many digits are longer than anything.
#[tokio::test]
async fn a_hint_of_too_many_digits_ends_the_call() {
    for value in ["9223372037", "9999999999", "99999999999999999999"] {
        let server = server("429 Too Many Requests", &[&format!("retry-after: {value}")]).await;
        let answered = send(&plain(config()), get(&server.url("/"))).await;
        assert_eq!(answered.as_ref().unwrap().status(), 429, "{value}");
        assert_eq!(text(answered).await, "not now", "{value}");
        assert_eq!(server.requests().len(), 1, "{value}");
    }
}

/// O-04.
#[tokio::test]
async fn a_hint_past_the_time_left_returns_the_answer_at_once_and_costs_no_budget() {
    let refusal = answer(
        "503 Service Unavailable",
        &["retry-after: 3600"],
        "come back later",
    );
    let busy = answer("503 Service Unavailable", &[], "busy");
    let fine = answer("200 OK", &[], "fine");
    let server = ScriptedServer::start([refusal, busy, fine]).await.unwrap();
    let ends = Ends::default();
    // The default budget: one retry for the first ten calls.
    let stack = plain(ends.of(config()));

    let began = Instant::now();
    let answered = send(&stack, get(&server.url("/"))).await;
    assert!(began.elapsed() < SOON);
    assert_eq!(server.requests().len(), 1);
    let head = answered.as_ref().unwrap();
    assert_eq!(
        (head.status().as_u16(), &head.headers()["retry-after"]),
        (503, &"3600".parse().unwrap())
    );
    assert_eq!(text(answered).await, "come back later");
    assert_eq!(ends.seen(), [Some(Reason::Deadline)]);

    let answered = send(&stack, get(&server.url("/"))).await;
    assert_eq!(
        text(answered).await,
        "fine",
        "the one retry of the budget was still there"
    );
    assert_eq!(server.requests().len(), 3);
}

/// O-05.
#[tokio::test]
async fn a_hint_is_not_a_verdict() {
    let soon: &[&str] = &["retry-after: 0.002"];
    for (status, headers, attempts) in [
        ("429 Too Many Requests", &[][..], 2),
        ("429 Too Many Requests", soon, 2),
        ("503 Service Unavailable", &[], 2),
        ("503 Service Unavailable", soon, 2),
        ("413 Content Too Large", &[], 1),
        ("413 Content Too Large", soon, 2),
        ("404 Not Found", soon, 1),
        ("400 Bad Request", soon, 1),
    ] {
        let server = server(status, headers).await;
        let answered = send(&plain(config()), get(&server.url("/"))).await;
        let last = if attempts == 2 { "now" } else { "not now" };
        assert_eq!(text(answered).await, last, "{status} {headers:?}");
        assert_eq!(server.requests().len(), attempts, "{status} {headers:?}");
    }
}

/// A success is the end, whatever its headers say.
#[tokio::test]
async fn a_hint_on_a_success_causes_no_wait() {
    let script: Script = answer("200 OK", &["retry-after: 3600"], "fine");
    let server = ScriptedServer::start([script]).await.unwrap();
    let answered = send(&plain(config()), get(&server.url("/"))).await;
    assert_eq!(text(answered).await, "fine");
    assert_eq!(server.requests().len(), 1);
}
