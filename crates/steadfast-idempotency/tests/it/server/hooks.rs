use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderName;
use http::request::Parts;
use steadfast_core::BoxError;
use steadfast_idempotency::server::leased::{AtMostOnce, LeasedLayer};
use steadfast_idempotency::server::{
    BodyTransform, EngineConfig, Fingerprint, IdempotencyLayer, OldKeys, Operation, Record, Replay,
    Transformed, TxStore,
};
use tower::{Layer, ServiceExt, service_fn};

use super::rig::{Caller, Req, Server, answer, charge, config, post};
use super::store::MemoryStore;
use crate::leased::rig::Process;
use crate::leased::store::{Step, Wired};

#[tokio::test(start_paused = true)]
async fn a_replay_is_refused_once_the_grant_was_revoked_and_tells_nothing() {
    let granted = Arc::new(AtomicBool::new(true));
    let asked = Arc::new(AtomicUsize::new(0));
    let (grant, count) = (Arc::clone(&granted), Arc::clone(&asked));
    let config = config().with_before_replay(move |parts: Parts, record: Record| {
        let allowed = grant.load(Ordering::SeqCst);
        count.fetch_add(1, Ordering::SeqCst);
        async move {
            // As long as a look at a table of grants takes.
            tokio::time::sleep(Duration::from_millis(3)).await;
            assert_eq!(parts.extensions.get::<Caller>().unwrap().0, "a");
            assert_eq!(record.answer.status, 201);
            match allowed {
                true => Replay::Allow,
                false => Replay::Refuse,
            }
        }
    });
    let server = Server::with(config, charge);
    assert_eq!(server.send(post("k", "x")).await.status, 201);
    assert_eq!(asked.load(Ordering::SeqCst), 0, "a first run is no replay");
    assert!(server.send(post("k", "x")).await.is_replay());
    granted.store(false, Ordering::SeqCst);
    let refused = server.send(post("k", "x")).await;
    assert_eq!(refused.refusal(), "403 replay-refused");
    assert!(!String::from_utf8_lossy(&refused.body).contains("receipt"));
    assert!(!refused.is_replay());
    let other = server.send(post("k", "y")).await;
    assert_eq!(other.refusal(), "422 key-reused");
    granted.store(true, Ordering::SeqCst);
    assert!(server.send(post("k", "x")).await.is_replay());
    assert_eq!((server.runs(), asked.load(Ordering::SeqCst)), (1, 3));
}

/// Each byte turned around, behind the operation's own text. Not a cipher.
struct Turned;

impl BodyTransform for Turned {
    fn keep(&self, operation: &Operation, body: Bytes) -> Result<Bytes, BoxError> {
        let turned = body.iter().map(|byte| byte ^ 0x55);
        Ok(operation.key().as_str().bytes().chain(turned).collect())
    }

    fn give(&self, operation: &Operation, kept: Bytes) -> Result<Bytes, BoxError> {
        let key = operation.key().as_str().as_bytes();
        let turned = kept.strip_prefix(key).ok_or("another operation's body")?;
        Ok(turned.iter().map(|byte| byte ^ 0x55).collect())
    }
}

#[tokio::test(start_paused = true)]
async fn bodies_are_kept_transformed_and_given_as_they_were() {
    let plain = MemoryStore::default();
    let store = Transformed::new(plain.clone(), Turned);
    let layer = IdempotencyLayer::new(store, config());
    let service = layer.layer(service_fn(charge));
    for replays in [false, true] {
        let response = service.clone().oneshot(post("k", "x")).await.unwrap();
        assert_eq!(
            response.headers().contains_key("idempotent-replayed"),
            replays
        );
        let body = http_body_util::BodyExt::collect(response.into_body())
            .await
            .unwrap();
        assert_eq!(body.to_bytes(), "receipt 1");
    }
    let operation = crate::leased::rig::operation("k");
    let kept = plain.find(&operation).await.unwrap().unwrap();
    assert!(kept.answer.body.starts_with(b"k"));
    assert!(!kept.answer.body.windows(7).any(|part| part == b"receipt"));

    // Whatever cannot be read back is neither run again nor given.
    let layer = IdempotencyLayer::new(Transformed::new(plain, Broken), config());
    let response = layer
        .layer(service_fn(charge))
        .oneshot(post("k", "x"))
        .await;
    assert_eq!(response.unwrap().status(), 503);
}

struct Broken;

impl BodyTransform for Broken {
    fn keep(&self, _: &Operation, _: Bytes) -> Result<Bytes, BoxError> {
        Err("no key to encrypt with".into())
    }

    fn give(&self, _: &Operation, _: Bytes) -> Result<Bytes, BoxError> {
        Err("no key to decrypt with".into())
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_cannot_be_transformed_is_not_kept() {
    let plain = MemoryStore::default();
    let layer = IdempotencyLayer::new(Transformed::new(plain.clone(), Broken), config());
    let response = layer
        .layer(service_fn(charge))
        .oneshot(post("k", "x"))
        .await;
    assert_eq!(response.unwrap().status(), 503);
    assert_eq!((plain.effects().len(), plain.records()), (0, 0));

    let leased = LeasedLayer::new(
        Transformed::new(Wired::new(), Turned),
        AtMostOnce::new(),
        config(),
    );
    let service = leased.layer(service_fn(async |_: Req| answer(201, "receipt 1")));
    for replays in [false, true] {
        let response = service.clone().oneshot(post("k", "x")).await.unwrap();
        assert_eq!(
            response.headers().contains_key("idempotent-replayed"),
            replays
        );
        let body = http_body_util::BodyExt::collect(response.into_body())
            .await
            .unwrap();
        assert_eq!(body.to_bytes(), "receipt 1");
    }
}

#[tokio::test(start_paused = true)]
async fn every_answer_to_a_key_says_how_long_the_key_is_remembered() {
    const NAME: &str = "idempotency-key-lifetime";
    let server = Server::new(charge);
    for body in ["x", "x", "y"] {
        let got = server.send(post("k", body)).await;
        assert_eq!(got.headers[NAME], "259200", "{}", got.status);
    }
    let engine = EngineConfig::default().with_retention(Duration::MAX);
    let server = Server::with(config().with_engine(engine), charge);
    let got = server.send(post("k", "x")).await;
    assert_eq!(got.headers[NAME], "999999999999999", "the largest there is");

    let quiet = config().with_lifetime_header(None);
    let got = Server::with(quiet, charge).send(post("k", "x")).await;
    assert!(!got.headers.contains_key(NAME));
    let name = HeaderName::from_static("x-kept");
    let named = config().with_lifetime_header(Some(name));
    let got = Server::with(named, charge).send(post("k", "x")).await;
    assert_eq!(got.headers["x-kept"], "259200");
}

/// RFC 9562 A.6: made in 2022.
const OLD: &str = "017F22E2-79B0-7CC3-98C4-DC0C0C07398F";

#[tokio::test(start_paused = true)]
async fn a_key_that_says_it_is_older_than_what_is_remembered_does_not_run() {
    let server = Server::new(charge);
    let got = server.send(post(OLD, "x")).await;
    assert_eq!(got.refusal(), "422 key-expired");
    assert_eq!((server.runs(), server.store.effects().len()), (0, 0));

    let wired = Wired::new();
    let process = Process::at_most_once(&wired, async |_: Req| answer(201, "x"));
    let got = process.send(post(OLD, "x")).await;
    assert_eq!(got.refusal(), "422 key-expired");
    assert_eq!((process.runs(), wired.steps()), (0, vec![Step::Find]));
}

#[tokio::test(start_paused = true)]
async fn an_old_key_of_which_something_is_kept_is_honoured_and_one_may_be_let_run() {
    let run = EngineConfig::default().with_old_keys(OldKeys::Run);
    let server = Server::with(config().with_engine(run.clone()), charge);
    assert_eq!(server.send(post(OLD, "x")).await.status, 201);
    let layer = IdempotencyLayer::new(server.store.clone(), config());
    let service = layer.layer(service_fn(charge));
    let again = service.oneshot(post(OLD, "x")).await.unwrap();
    assert!(again.headers().contains_key("idempotent-replayed"));

    let wired = Wired::new();
    let config = config();
    let runs = Process::new(
        &wired,
        AtMostOnce::new(),
        config.clone().with_engine(run),
        async |_: Req| answer(201, "x"),
    );
    assert_eq!(runs.send(post(OLD, "x")).await.status, 201);
    let honours = Process::new(&wired, AtMostOnce::new(), config, async |_: Req| {
        answer(201, "x")
    });
    assert!(honours.send(post(OLD, "x")).await.is_replay());

    let forever = EngineConfig::default().with_retention(Duration::MAX);
    let server = Server::with(super::rig::config().with_engine(forever), charge);
    assert_eq!(server.send(post(OLD, "x")).await.status, 201);
}

#[tokio::test(start_paused = true)]
async fn as_json_a_reordered_body_is_the_same_request() {
    let config = config().with_fingerprint(Fingerprint::of_json);
    let server = Server::with(config, charge);
    server.send(post("k", r#"{"a":1,"b":[1,2]}"#)).await;
    assert!(
        server
            .send(post("k", r#"{ "b": [1, 2], "a": 1 }"#))
            .await
            .is_replay()
    );
    for other in [
        r#"{"a":"1","b":[1,2]}"#,
        r#"{"a":1,"b":[2,1]}"#,
        r#"{"a":1}"#,
    ] {
        let got = server.send(post("k", other)).await;
        assert_eq!(got.refusal(), "422 key-reused", "{other}");
    }
    assert_eq!(server.runs(), 1);
}
