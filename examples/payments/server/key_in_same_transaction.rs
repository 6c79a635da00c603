//! The server with Steadfast: charge, key and answer commit together, or none of them does.

use std::path::Path;
use std::time::Duration;

use axum::http::StatusCode;
use axum::routing::post;
use axum::{Json, Router};
use steadfast::axum::{IdempotencyKey, Transaction};
use steadfast::idempotency::server::{EngineConfig, IdempotencyConfig, IdempotencyLayer};
use steadfast::sqlx::{SqliteStore, SqliteTx};

use super::LedgerDown;
use crate::ledger::{self, Charge, Receipt};

/// Above the patience with which the ledger is opened, so that the database is the one to say
/// that its turn did not come.
const STORE_TIMEOUT: Duration = Duration::from_secs(25);

pub(super) async fn app(path: &Path) -> Result<Router, sqlx::Error> {
    ledger::open(path).await?.close().await;
    let store = SqliteStore::open_with(ledger::options(path)).await?;
    // One shop is the only caller here. A real server reads who calls from what authentication
    // left in the request's extensions.
    let config = IdempotencyConfig::new(|_| Some("the shop"))
        .with_engine(EngineConfig::default().with_store_timeout(STORE_TIMEOUT));
    let idempotency = IdempotencyLayer::new(store, config);
    Ok(Router::new()
        .route("/charges", post(charge))
        .route_layer(idempotency))
}

async fn charge(
    key: IdempotencyKey,
    mut tx: Transaction<SqliteTx>,
    Json(charge): Json<Charge>,
) -> Result<(StatusCode, Json<Receipt>), LedgerDown> {
    let receipt_id = ledger::insert(&mut tx, Some(key.key().as_str()), &charge).await?;
    Ok((StatusCode::CREATED, Json(Receipt::of_id(receipt_id))))
}
