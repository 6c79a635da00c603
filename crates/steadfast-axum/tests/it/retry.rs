//! What an arriving request says of its repeats.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::routing::get;
use steadfast_axum::{IdempotencyKey, RequestRetry, Transaction};
use steadfast_deadline::server::{InboundConfig, InboundDeadlineLayer, InboundTrust};
use steadfast_idempotency_sqlx::SqliteTx;
use tower::ServiceExt;

async fn look(retry: RequestRetry) -> String {
    let owned = if retry.owner().is_some() {
        "owned"
    } else {
        "free"
    };
    let (repeat, last) = (retry.is_repeat(), retry.is_last());
    format!(
        "{} of {:?} {repeat} {last} {owned}",
        retry.attempt(),
        retry.max()
    )
}

async fn said(app: &Router, header: Option<(&str, &str)>) -> String {
    let mut request = Request::get("/");
    if let Some((name, value)) = header {
        request = request.header(name, value);
    }
    let answer = app.clone().oneshot(request.body(Body::empty()).unwrap());
    let body = to_bytes(answer.await.unwrap().into_body(), 1024)
        .await
        .unwrap();
    String::from_utf8(body.to_vec()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_trusted_caller_says_which_attempt_it_is_and_who_repeats() {
    let bare = Router::new().route("/", get(look));
    let config = InboundConfig::new().with_trust(InboundTrust::Everything);
    let app = bare.clone().layer(InboundDeadlineLayer::new(config));
    let mark = Some(("steadfast-attempt", "2/3"));
    assert_eq!(said(&app, None).await, "1 of None false false free");
    assert_eq!(said(&app, mark).await, "2 of Some(3) true false owned");
    let last = Some(("steadfast-attempt", "3/3"));
    assert_eq!(said(&app, last).await, "3 of Some(3) true true owned");
    assert_eq!(said(&bare, mark).await, "1 of None false false free");
}

#[tokio::test(start_paused = true)]
async fn a_stranger_is_not_believed() {
    let config = InboundConfig::new().with_trust(InboundTrust::default());
    let app = Router::new()
        .route("/", get(look))
        .layer(InboundDeadlineLayer::new(config));
    let mark = Some(("steadfast-attempt", "2/3"));
    assert!(said(&app, mark).await.ends_with("free"));
}

#[tokio::test]
async fn what_is_optional_is_none_where_nothing_protects_the_route() {
    async fn either(key: Option<IdempotencyKey>, tx: Option<Transaction<SqliteTx>>) -> String {
        format!("{} {}", key.is_some(), tx.is_some())
    }
    let app = Router::new().route("/", get(either));
    assert_eq!(said(&app, None).await, "false false");
}
