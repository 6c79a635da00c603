//! What an answer means depends on the attempts before it.

use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes as Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::put;
use bytes::Bytes;
use http::{Method, Request};
use http_body_util::Full;
use steadfast::deadline::AttemptTimeoutLayer;
use steadfast::idempotency::client::{KeyConfig, KeyLayer, Routes};
use steadfast::retry::RetryLayer;
use steadfast::{Outcome, Report};
use steadfast_kit::{Exchange, Fate, FaultProxy, Script, ScriptedServer};
use tokio::net::TcpListener;
use tower::{ServiceBuilder, ServiceExt};

use crate::sockets_reused::{generous, request};
use crate::stack::*;

const CONFLICT: &str = "409 Conflict";

fn keys_at(server: &ScriptedServer) -> Routes {
    Routes::new()
        .post(&server.addr().to_string(), "/pay")
        .unwrap()
}

/// O-36: the first attempt is still being worked on when the second one comes.
#[tokio::test]
async fn a_conflict_after_an_unknown_attempt_is_waited_out_until_the_stored_answer_comes() {
    let server = ScriptedServer::start([
        Script::new().read().stall(),
        answer(CONFLICT, &["retry-after: 0.002"], "in progress"),
        answer("201 Created", &["idempotent-replayed: true"], "receipt"),
    ])
    .await
    .unwrap();
    // Long for the answers of a loopback, and the one wait of this test.
    let timeout = AttemptTimeoutLayer::new(Duration::from_millis(250));
    let stack = ServiceBuilder::new()
        .layer(KeyLayer::new(KeyConfig::new(keys_at(&server))))
        .layer(RetryLayer::new(generous()))
        .layer(timeout)
        .service(hyper::<Full<Bytes>>());
    let answered = stack
        .oneshot(request(&Method::POST, &server.url("/pay")))
        .await;
    assert_eq!(answered.as_ref().unwrap().status(), 201);
    assert_eq!(text(answered).await, "receipt");
    let sent = server.requests();
    assert_eq!(sent.len(), 3);
    let first = String::from_utf8(sent[0].to_vec()).unwrap();
    assert!(first.contains("idempotency-key: \""), "{first}");
    assert!(
        sent.iter().all(|it| *it == sent[0]),
        "the same key and the same body: {sent:?}"
    );
}

/// O-36.
#[tokio::test]
async fn a_conflict_on_the_first_attempt_is_a_conflict() {
    let conflict = answer(CONFLICT, &["retry-after: 0.002"], "another one");
    let server = ScriptedServer::start([conflict]).await.unwrap();
    let stack = stack(generous(), keys_at(&server));
    let answered = send(&stack, request(&Method::POST, &server.url("/pay"))).await;
    assert_eq!(answered.as_ref().unwrap().status(), 409);
    assert_eq!(text(answered).await, "another one");
    assert_eq!(server.requests().len(), 1);
}

/// A document with a version, which PUT replaces where If-Match lets it.
#[derive(Clone, Debug, Default)]
struct Document(Arc<Mutex<(u32, String)>>);

impl Document {
    fn put(&self, expected: Option<&str>, text: &str) -> StatusCode {
        let mut document = self.0.lock().unwrap();
        let current = format!("\"v{}\"", document.0);
        if expected.is_some_and(|expected| expected != current) {
            return StatusCode::PRECONDITION_FAILED;
        }
        *document = (document.0 + 1, text.to_owned());
        StatusCode::NO_CONTENT
    }

    fn text(&self) -> String {
        self.0.lock().unwrap().1.clone()
    }
}

async fn write(State(document): State<Document>, headers: HeaderMap, body: Body) -> StatusCode {
    let expected = headers.get("if-match").map(|value| value.to_str().unwrap());
    document.put(expected, std::str::from_utf8(&body).unwrap())
}

/// The first writer's answer is lost, the second writer writes, the first one tries again.
async fn two_writers(if_match: Option<&str>) -> (Document, FaultProxy, Answered) {
    let document = Document::default();
    let app = Router::new()
        .route("/doc", put(write))
        .with_state(document.clone());
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let addr = listener.local_addr().unwrap();
    let serving = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    let second = document.clone();
    let lose_first = move |exchange: &Exchange| match exchange.number {
        1 => {
            assert_eq!(
                second.put(None, "the second writer's"),
                StatusCode::NO_CONTENT
            );
            Fate::CutAnswer
        }
        _ => Fate::Pass,
    };
    let proxy = FaultProxy::start(addr, lose_first).await.unwrap();
    let mut request = Request::put(proxy.url("/doc"));
    if let Some(version) = if_match {
        request = request.header("if-match", version);
    }
    let request = request.body(Full::from("the first writer's")).unwrap();
    let answered = send(&plain(generous()), request).await;
    serving.abort();
    (document, proxy, answered)
}

/// What PUT is worth where others write too.
#[tokio::test]
async fn a_blind_put_that_is_repeated_overwrites_what_came_between() {
    let (document, proxy, answered) = two_writers(None).await;
    assert_eq!(answered.unwrap().status(), 204);
    assert_eq!(proxy.exchanges(), 2);
    assert_eq!(
        document.text(),
        "the first writer's",
        "the second writer's text is lost"
    );
}

#[tokio::test]
async fn a_put_with_if_match_that_is_repeated_overwrites_nothing_and_says_that_it_cannot_know() {
    let (document, proxy, answered) = two_writers(Some("\"v0\"")).await;
    let answer = answered.unwrap();
    assert_eq!(answer.status(), 412);
    let report: &Report = answer.extensions().get().unwrap();
    // It did write, in its first attempt; but a 412 could as well mean that it never did.
    assert_eq!((report.attempts, report.outcome), (2, Outcome::Unknown));
    assert_eq!(proxy.exchanges(), 2);
    assert_eq!(document.text(), "the second writer's");
}
