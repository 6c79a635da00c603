//! Look, act, write the key: by hand, and in the task of the connection.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use http_body_util::BodyExt;
use steadfast_core::BoxError;
use steadfast_idempotency::server::{Answer, FingerprintHasher, Operation, Record, TxStore};
use steadfast_idempotency::{IDEMPOTENCY_KEY, Key};
use steadfast_idempotency_sqlx::SqliteStore;
use tokio::time::sleep;

use crate::books::{Books, Entry};
use crate::flawed::{GAP, write_down};
use crate::luck::Luck;
use crate::order::{Fate, Order};
use crate::serve::answer;

pub(crate) fn app(store: SqliteStore, luck: Luck) -> Router {
    let charge = |state, headers, order| async {
        let answered = charge(state, headers, order).await;
        answered.unwrap_or_else(|_| StatusCode::SERVICE_UNAVAILABLE.into_response())
    };
    Router::new()
        .route("/charges", post(charge))
        .with_state((store, luck))
}

async fn charge(
    State((store, luck)): State<(SqliteStore, Luck)>,
    headers: HeaderMap,
    Json(order): Json<Order>,
) -> Result<Response, BoxError> {
    let key = headers.get(IDEMPOTENCY_KEY).ok_or("no key")?.to_str()?;
    let key = Key::parse(key.trim_matches('"'))?;
    let operation = Operation::new("default", "the shop", &key);
    let fingerprint = FingerprintHasher::new("order")
        .field(serde_json::to_vec(&order)?)
        .finish();
    if let Some(record) = store.find(&operation).await? {
        if record.fingerprint != fingerprint {
            return Ok(StatusCode::UNPROCESSABLE_ENTITY.into_response());
        }
        let mut replay = (record.answer.status, record.answer.body).into_response();
        *replay.headers_mut() = record.answer.headers;
        let replayed = HeaderValue::from_static("true");
        replay.headers_mut().insert("idempotent-replayed", replayed);
        return Ok(replay);
    }
    let run = luck.run();
    let (fate, receipt) = match order.declined {
        true => (Fate::Declined, 0),
        false => {
            let entry = Entry::of(key.as_str(), &order, &run, Fate::Kept);
            let mut tx = store.writer().begin_with("BEGIN IMMEDIATE").await?;
            let receipt = tx.charge(&entry).await?;
            tx.commit().await?;
            (Fate::Kept, receipt)
        }
    };
    sleep(GAP).await;
    let (head, body) = answer(fate, run, receipt).into_parts();
    let body = body.collect().await?.to_bytes();
    let kept = Answer::new(head.status, body.clone()).with_headers(head.headers.clone());
    write_down(store.writer(), &operation, &Record::new(fingerprint, kept)).await?;
    Ok((head, body).into_response())
}
