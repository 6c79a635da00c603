//! Connections that die under a request, or never come to be.

use std::net::Ipv4Addr;

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::Full;
use steadfast::budget::RatioBudget;
use steadfast::hyper::HyperClassify;
use steadfast::idempotency::client::Routes;
use steadfast::retry::RetryConfig;
use steadfast::{Classify, Delivery, Failure, Outcome, Ratio, Reason, Verdict};
use steadfast_kit::{Script, ScriptedServer};
use tokio::net::TcpListener;

use crate::stack::*;

/// Attempts may cost what they cost.
pub(crate) fn generous() -> RetryConfig {
    let budget = RatioBudget::new(Ratio::ONE).with_minimum_per_second(Ratio::ONE);
    config().with_budget(budget)
}

pub(crate) fn request(method: &Method, url: &str) -> Request<Full<Bytes>> {
    let body = if method == Method::GET {
        ""
    } else {
        "amount=1"
    };
    Request::builder()
        .method(method)
        .uri(url)
        .body(Full::from(body))
        .unwrap()
}

/// Routes on which a POST is keyed at this server.
fn keyed(server: &ScriptedServer) -> Routes {
    Routes::new()
        .post(&server.addr().to_string(), "/pay")
        .unwrap()
}

/// A server whose first connection answers once, keeps alive, and ends so at the second request;
/// its second connection answers.
async fn dies_on_reuse(end: impl FnOnce(Script) -> Script) -> ScriptedServer {
    let warm = Script::new().read().answer("200 OK", &[], "warm");
    ScriptedServer::start([end(warm), answer("200 OK", &[], "done")])
        .await
        .unwrap()
}

async fn over_a_reused_connection(
    server: &ScriptedServer,
    method: &Method,
    routes: Routes,
) -> Answered {
    let stack = stack(generous(), routes);
    let warm = send(&stack, request(&Method::GET, &server.url("/warm"))).await;
    assert_eq!(text(warm).await, "warm");
    // hyper gives the connection back in a task of its own.
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    send(&stack, request(method, &server.url("/pay"))).await
}

/// O-12.
#[tokio::test]
async fn a_reused_connection_that_dies_before_an_answer_costs_safe_calls_one_more_attempt() {
    for method in [Method::GET, Method::PUT, Method::DELETE] {
        let read = dies_on_reuse(Script::read).await;
        let unread = dies_on_reuse(|it| it.arrival().reset()).await;
        for (server, requests) in [(read, 3), (unread, 2)] {
            let answered = over_a_reused_connection(&server, &method, Routes::new()).await;
            assert_eq!(text(answered).await, "done", "{method}");
            assert_eq!(server.connections(), 2, "{method}");
            // It was the reused connection that broke.
            assert_eq!(server.requests().len(), requests, "{method}");
        }
    }
}

/// O-12.
#[tokio::test]
async fn a_post_on_a_reused_connection_that_dies_is_repeated_only_with_a_key() {
    let server = dies_on_reuse(Script::read).await;
    let error = over_a_reused_connection(&server, &Method::POST, Routes::new())
        .await
        .unwrap_err();
    let failure = Failure::find(&*error).unwrap();
    assert_eq!(failure.report().attempts, 1);
    assert_eq!(failure.report().reason, Some(Reason::Unprotected));
    assert_eq!(failure.report().outcome, Outcome::Unknown);
    assert_eq!(
        HyperClassify.error(std::error::Error::source(failure).unwrap()),
        Verdict::Transient(Delivery::Unknown),
        "the client's own error is below, by type"
    );
    assert_eq!((server.requests().len(), server.connections()), (2, 1));

    let server = dies_on_reuse(Script::read).await;
    let answered = over_a_reused_connection(&server, &Method::POST, keyed(&server)).await;
    assert_eq!(text(answered).await, "done");
    assert_eq!(server.requests().len(), 3);
    assert_eq!(server.requests()[1], server.requests()[2]);
}

/// O-12: nothing was sent, so any method may go again, and does so only as often as configured.
#[tokio::test]
async fn a_refused_connection_is_tried_again_whatever_the_method() {
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let url = format!("http://{}/pay", free.local_addr().unwrap());
    drop(free);
    for method in [Method::GET, Method::PUT, Method::POST, Method::PATCH] {
        let error = send(&plain(generous()), request(&method, &url))
            .await
            .unwrap_err();
        let report = Failure::find(&*error).unwrap().report();
        assert_eq!(
            (report.attempts, report.reason),
            (3, Some(Reason::AttemptsExhausted))
        );
        assert_eq!(report.outcome, Outcome::NotApplied, "{method}");
    }
}

/// O-12: the server gave up waiting just when the request came.
#[tokio::test]
async fn a_408_on_a_reused_connection_is_repeated_within_bounds() {
    let timeout = "HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
    for (method, attempts) in [(Method::GET, 3), (Method::PUT, 3), (Method::POST, 1)] {
        let warm = Script::new()
            .read()
            .answer("200 OK", &[], "warm")
            .read()
            .write(timeout);
        let late = || Script::new().read().write(timeout);
        let server = ScriptedServer::start([warm, late(), late(), late()])
            .await
            .unwrap();
        let answered = over_a_reused_connection(&server, &method, Routes::new()).await;
        assert_eq!(answered.unwrap().status(), 408, "{method}");
        assert_eq!(server.requests().len(), 1 + attempts, "{method}");
    }
}
