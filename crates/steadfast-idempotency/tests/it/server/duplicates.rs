use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Method, Request};
use http_body_util::Full;
use steadfast_idempotency::IDEMPOTENCY_KEY;
use steadfast_idempotency::server::{AnonymousKeys, FingerprintHasher, IdempotencyLayer};
use tokio::sync::Notify;
use tower::{Layer, ServiceExt, service_fn};

use super::rig::{Caller, Req, Server, answer, charge, config, post, take};
use super::store::{Fault, Step};

#[tokio::test(start_paused = true)]
async fn of_concurrent_duplicates_one_runs_and_the_others_are_told_to_come_back() {
    let gate = Arc::new(Notify::new());
    let held = Arc::clone(&gate);
    let server = Server::new(move |request| {
        let held = Arc::clone(&held);
        async move {
            held.notified().await;
            charge(request).await
        }
    });
    let first = server.send(post("k", "x"));
    tokio::pin!(first);
    assert!(waits(first.as_mut()).await);

    let steps = server.store.steps().len();
    assert_eq!(
        server.send(post("k", "x")).await.refusal(),
        "409 in-progress, after 1"
    );
    assert_eq!(
        server.send(post("k", "y")).await.refusal(),
        "422 key-reused"
    );
    assert_eq!(
        server.store.steps().len(),
        steps,
        "duplicates here need no database"
    );

    gate.notify_one();
    assert_eq!(first.await.status, 201);
    let after = server.send(post("k", "x")).await;
    assert!(after.is_replay());
    assert_eq!((server.runs(), server.store.effects().len()), (1, 1));
}

/// Whether the call still waits after the spawned work has run as far as it can.
async fn waits<F: Future + Unpin>(mut future: F) -> bool {
    for _ in 0..20 {
        let polled = std::future::poll_fn(|cx| {
            std::task::Poll::Ready(std::pin::Pin::new(&mut future).poll(cx).is_pending())
        });
        if !polled.await {
            return false;
        }
        tokio::task::yield_now().await;
    }
    true
}

#[tokio::test(start_paused = true)]
async fn a_key_that_runs_in_another_process_is_in_progress_too() {
    let server = Server::new(charge);
    server.store.break_next(Step::Begin, Fault::Busy);
    assert_eq!(
        server.send(post("k", "x")).await.refusal(),
        "409 in-progress, after 1"
    );
    assert_eq!(server.runs(), 0);
}

#[tokio::test(start_paused = true)]
async fn another_payload_or_route_is_refused_and_learns_nothing() {
    let server = Server::new(charge);
    server.send(post("k", r#"{"a":1,"b":2}"#)).await;

    let other_bodies = [r#"{"b":2,"a":1}"#, r#"{"a": 1, "b": 2}"#, "", "{}"];
    let mut others: Vec<Req> = other_bodies.map(|body| post("k", body)).into();
    let edits: [fn(&mut Req); 4] = [
        |request| *request.uri_mut() = "/refunds".parse().unwrap(),
        |request| *request.uri_mut() = "/charges?dry=1".parse().unwrap(),
        |request| *request.method_mut() = Method::PATCH,
        |request| {
            let json = HeaderValue::from_static("application/json");
            request.headers_mut().insert("content-type", json);
        },
    ];
    for edit in edits {
        let mut request = post("k", r#"{"a":1,"b":2}"#);
        edit(&mut request);
        others.push(request);
    }
    for request in others {
        let got = server.send(request).await;
        assert_eq!(got.refusal(), "422 key-reused");
        assert!(!String::from_utf8_lossy(&got.body).contains("receipt"));
    }
    assert_eq!((server.runs(), server.store.effects().len()), (1, 1));
    assert!(server.send(post("k", r#"{"a":1,"b":2}"#)).await.is_replay());
}

#[tokio::test(start_paused = true)]
async fn headers_that_differ_between_honest_repeats_do_not_matter() {
    let server = Server::new(charge);
    server.send(post("k", "x")).await;
    let mut repeat = post("k", "x");
    for (name, value) in [
        ("authorization", "Bearer new"),
        ("traceparent", "00-2"),
        ("date", "x"),
    ] {
        repeat
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    *repeat.uri_mut() = "https://pay.example/charges".parse().unwrap();
    assert!(server.send(repeat).await.is_replay());
}

fn by(caller: &'static str, key: &str) -> Req {
    let mut request = post(key, "x");
    request.extensions_mut().insert(Caller(caller));
    request
}

#[tokio::test(start_paused = true)]
async fn callers_with_the_same_key_never_meet() {
    let server = Server::new(async |request: Req| {
        let caller = request.extensions().get::<Caller>().unwrap().0;
        take(&request).effects.push(caller.to_owned());
        answer(200, caller)
    });
    let pairs = [
        ("a", "same"),
        ("b", "same"),
        ("a", "b_c"),
        ("a_b", "c"),
        ("a\0b", "c"),
    ];
    for (caller, key) in pairs {
        let got = server.send(by(caller, key)).await;
        assert_eq!(got.body, caller);
        assert!(!got.is_replay());
    }
    assert_eq!(server.runs(), pairs.len());
    for (caller, key) in pairs {
        let got = server.send(by(caller, key)).await;
        assert_eq!(got.body, caller);
        assert!(got.is_replay());
    }
    assert_eq!(server.store.effects(), pairs.map(|(caller, _)| caller));
}

#[tokio::test(start_paused = true)]
async fn without_a_caller_there_is_no_service() {
    let server = Server::new(charge);
    for caller in [None, Some(Caller(""))] {
        let mut request = post("0123456789abcdef", "x");
        request.extensions_mut().remove::<Caller>();
        if let Some(caller) = caller {
            request.extensions_mut().insert(caller);
        }
        assert_eq!(server.send(request).await.refusal(), "403 scope-missing");
    }
    assert_eq!((server.runs(), server.store.steps().len()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn anonymous_keys_are_opted_into_and_long() {
    let config = config().with_anonymous_keys(AnonymousKeys::Allow);
    let server = Server::with(config, charge);
    let anonymous = |key: &str| {
        let mut request = post(key, "x");
        request.extensions_mut().remove::<Caller>();
        request
    };
    let short = server.send(anonymous("0123456789abcde")).await;
    assert_eq!(short.refusal(), "400 key-malformed");
    assert_eq!(server.store.steps().len(), 0);
    assert_eq!(server.send(anonymous("0123456789abcdef")).await.status, 201);
    assert!(server.send(anonymous("0123456789abcdef")).await.is_replay());
}

#[tokio::test(start_paused = true)]
async fn namespaces_of_one_store_never_meet() {
    let first = Server::with(config().with_namespace("cards"), charge);
    let config = config().with_namespace("ledger");
    first.send(post("k", "x")).await;
    let layer = IdempotencyLayer::new(first.store.clone(), config);
    let second = layer.layer(service_fn(charge));
    let got = second.oneshot(post("k", "x")).await.unwrap();
    assert!(got.headers().get("idempotent-replayed").is_none());
    assert_eq!(first.store.effects().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_fingerprint_of_the_users_own_decides_what_equals() {
    let config = config().with_fingerprint(|_, _, body| {
        FingerprintHasher::new("case")
            .field(body.to_ascii_lowercase())
            .finish()
    });
    let server = Server::with(config, charge);
    server.send(post("k", "amount=1")).await;
    assert!(server.send(post("k", "AMOUNT=1")).await.is_replay());
    assert_eq!(
        server.send(post("k", "amount=2")).await.refusal(),
        "422 key-reused"
    );
}

#[tokio::test(start_paused = true)]
async fn the_target_before_the_router_rewrote_it_counts() {
    #[derive(Clone)]
    struct Original(http::Uri);
    let config = config().with_target(|parts| {
        parts
            .extensions
            .get::<Original>()
            .map(|original| original.0.clone())
    });
    let server = Server::with(config, charge);
    let aimed_at = |target: &'static str| {
        let mut request: Request<Full<Bytes>> = post("k", "x");
        request
            .extensions_mut()
            .insert(Original(http::Uri::from_static(target)));
        request
            .headers_mut()
            .insert(IDEMPOTENCY_KEY, HeaderValue::from_static("\"k\""));
        request
    };
    server.send(aimed_at("/v1/charges")).await;
    assert_eq!(
        server.send(aimed_at("/v2/charges")).await.refusal(),
        "422 key-reused"
    );
    assert!(server.send(aimed_at("/v1/charges")).await.is_replay());
}
