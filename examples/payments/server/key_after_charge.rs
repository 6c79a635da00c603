//! The half measure that many have written: look the key up, charge, write the key down.
//!
//! It passes every test in which nothing dies. Charge and key are two transactions, and between
//! them lies a gap.

use std::future;
use std::path::Path;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use sqlx::SqlitePool;
use steadfast::idempotency::IDEMPOTENCY_KEY;

use super::{GAP, LedgerDown, sending_of};
use crate::fault::FaultPlan;
use crate::ledger::{self, Charge, Receipt};
use crate::row::Row;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS seen_key (
        key        TEXT    PRIMARY KEY,
        account    TEXT    NOT NULL,
        cents      INTEGER NOT NULL,
        receipt_id INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID";

#[derive(Clone)]
struct Server {
    ledger: SqlitePool,
    plan: FaultPlan,
}

pub(super) async fn app(path: &Path, plan: FaultPlan) -> Result<Router, sqlx::Error> {
    let ledger = ledger::open(path).await?;
    sqlx::query(SCHEMA).execute(&ledger).await?;
    let server = Server { ledger, plan };
    Ok(Router::new()
        .route("/charges", post(charge))
        .with_state(server))
}

async fn charge(
    State(server): State<Server>,
    headers: HeaderMap,
    Json(charge): Json<Charge>,
) -> Result<Response, LedgerDown> {
    let Some(key) = headers
        .get(IDEMPOTENCY_KEY)
        .and_then(|key| key.to_str().ok())
    else {
        return Ok(StatusCode::BAD_REQUEST.into_response());
    };
    let key = key.trim_matches('"');
    let mut connection = server.ledger.acquire().await?;

    let seen: Option<(String, i64, i64)> =
        sqlx::query_as("SELECT account, cents, receipt_id FROM seen_key WHERE key = ?1")
            .bind(key)
            .fetch_optional(&mut *connection)
            .await?;
    if let Some((account, cents, receipt_id)) = seen {
        if (Charge { account, cents }) != charge {
            return Ok(StatusCode::UNPROCESSABLE_ENTITY.into_response());
        }
        let receipt = Json(Receipt::of_id(receipt_id));
        let replayed = [("idempotent-replayed", "true")];
        return Ok((StatusCode::CREATED, replayed, receipt).into_response());
    }

    // The first transaction: the statement commits when it returns.
    let receipt_id = ledger::insert(&mut connection, Some(key), &charge).await?;

    let sending = sending_of(Row::KeyAfterCharge, &headers);
    if sending.is_some_and(|sending| server.plan.dies_in_gap(sending)) {
        // Money has moved and no key says so. The parent reads this line and kills the process.
        println!("{GAP}");
        return future::pending().await;
    }

    // The second transaction.
    sqlx::query("INSERT INTO seen_key (key, account, cents, receipt_id) VALUES (?1, ?2, ?3, ?4)")
        .bind(key)
        .bind(&charge.account)
        .bind(charge.cents)
        .bind(receipt_id)
        .execute(&mut *connection)
        .await?;
    Ok((StatusCode::CREATED, Json(Receipt::of_id(receipt_id))).into_response())
}
