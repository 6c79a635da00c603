use std::num::NonZeroUsize;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use axum::routing::post;
use http_body_util::BodyExt;
use steadfast_axum::{IdempotencyKey, Lease, Transaction};
use steadfast_idempotency::server::leased::{LeasedLayer, MemoryLeaseStore, Reentrant};
use steadfast_idempotency::server::{IdempotencyConfig, IdempotencyLayer};
use steadfast_idempotency_sqlx::{SqliteStore, SqliteTx};
use tower::ServiceExt;

async fn charge(lease: Lease, key: IdempotencyKey) -> String {
    assert_eq!(lease.operation(), key.operation());
    assert_eq!(lease.child("step"), key.child("step"));
    let lease = lease.into_inner();
    format!("attempt {}, lost: {}", lease.attempt(), lease.is_lost())
}

async fn transactional(_: Transaction<SqliteTx>) -> &'static str {
    "in a transaction"
}

async fn ask(app: &Router, path: &str) -> (u16, String) {
    let request = Request::post(path).header("idempotency-key", "\"k\"");
    let request = request.body(Body::empty()).unwrap();
    let response = app.clone().oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

fn config() -> IdempotencyConfig {
    IdempotencyConfig::new(|_| Some("the only caller"))
}

#[tokio::test]
async fn a_handler_under_a_lease_extracts_it_and_one_without_is_told_why() {
    let memory = MemoryLeaseStore::new(NonZeroUsize::new(100).unwrap());
    let leased = Router::new()
        .route("/charge", post(charge))
        .route("/transactional", post(transactional))
        .route_layer(LeasedLayer::new(memory, Reentrant, config()));
    for _ in 0..2 {
        let (status, body) = ask(&leased, "/charge").await;
        assert_eq!((status, body.as_str()), (200, "attempt 1, lost: false"));
    }
    let (status, body) = ask(&leased, "/transactional").await;
    assert_eq!(status, 422, "the key belongs to the other route: {body}");

    let memory = MemoryLeaseStore::new(NonZeroUsize::new(100).unwrap());
    let leased = Router::new()
        .route("/transactional", post(transactional))
        .route_layer(LeasedLayer::new(memory, Reentrant, config()));
    let (status, body) = ask(&leased, "/transactional").await;
    assert!(status == 500 && body.contains("other-store"), "{body}");

    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path().join("t")).await.unwrap();
    let app = Router::new()
        .route("/charge", post(charge))
        .route_layer(IdempotencyLayer::new(store, config()))
        .route("/bare", post(charge));
    let (status, body) = ask(&app, "/charge").await;
    assert!(status == 500 && body.contains("not-leased"), "{body}");
    let (status, body) = ask(&app, "/bare").await;
    assert!(status == 500 && body.contains("not-protected"), "{body}");
}
