//! A server that has never heard of keys: each request that arrives is a charge.

use std::path::Path;

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use axum::{Json, Router};
use sqlx::SqlitePool;

use super::LedgerDown;
use crate::ledger::{self, Charge, Receipt};

pub(super) async fn app(path: &Path) -> Result<Router, sqlx::Error> {
    let ledger = ledger::open(path).await?;
    Ok(Router::new()
        .route("/charges", post(charge))
        .with_state(ledger))
}

async fn charge(
    State(ledger): State<SqlitePool>,
    Json(charge): Json<Charge>,
) -> Result<(StatusCode, Json<Receipt>), LedgerDown> {
    let mut connection = ledger.acquire().await?;
    let receipt_id = ledger::insert(&mut connection, None, &charge).await?;
    Ok((StatusCode::CREATED, Json(Receipt::of_id(receipt_id))))
}
