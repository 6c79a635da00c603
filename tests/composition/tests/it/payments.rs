//! A payment server: axum, Steadfast's layer, SQLite.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use axum::http::StatusCode;
use axum::routing::post;
use axum::{Json, Router};
use bytes::Bytes;
use http::{Request, header};
use http_body_util::Full;
use serde::{Deserialize, Serialize};
use steadfast::axum::{IdempotencyKey, Transaction};
use steadfast::idempotency::server::{IdempotencyConfig, IdempotencyLayer};
use steadfast::sqlx::{SqliteStore, SqliteTx};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Charge {
    account: String,
    cents: i64,
}

/// A running server; it ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Payments {
    pub(crate) addr: SocketAddr,
    store: SqliteStore,
    task: JoinHandle<()>,
}

impl Payments {
    /// Serves `POST /charges` from a fresh ledger in this directory.
    pub(crate) async fn start(dir: &Path) -> Self {
        Self::start_with(dir, |app| app).await
    }

    /// The same, with something around the app.
    pub(crate) async fn start_with(dir: &Path, around: impl FnOnce(Router) -> Router) -> Self {
        let store = SqliteStore::open(dir.join("ledger.db")).await.unwrap();
        let schema = "CREATE TABLE charge (
            receipt_id INTEGER PRIMARY KEY, account TEXT, key TEXT, cents INTEGER) STRICT";
        sqlx::query(schema).execute(store.writer()).await.unwrap();
        let config = IdempotencyConfig::new(|_| Some("the shop"));
        let app = Router::new()
            .route("/charges", post(charge))
            .route_layer(IdempotencyLayer::new(store.clone(), config));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let app = around(app);
        let addr = listener.local_addr().unwrap();
        let task = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { addr, store, task }
    }

    /// Charges, and accounts that were charged.
    pub(crate) async fn charges_and_accounts(&self) -> (i64, i64) {
        sqlx::query_as("SELECT count(*), count(DISTINCT account) FROM charge")
            .fetch_one(self.store.reader())
            .await
            .unwrap()
    }
}

impl Drop for Payments {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A request for a charge of this account.
pub(crate) fn request(url: &str, account: &str) -> Request<Full<Bytes>> {
    let charge = Charge {
        account: account.to_owned(),
        cents: 2_000,
    };
    Request::post(url)
        .header(header::CONTENT_TYPE, "application/json")
        .body(Full::from(serde_json::to_vec(&charge).unwrap()))
        .unwrap()
}

/// Answers the receipt.
async fn charge(
    key: IdempotencyKey,
    mut tx: Transaction<SqliteTx>,
    Json(charge): Json<Charge>,
) -> Result<(StatusCode, String), StatusCode> {
    let done = sqlx::query("INSERT INTO charge (account, key, cents) VALUES (?1, ?2, ?3)")
        .bind(&charge.account)
        .bind(key.key().as_str())
        .bind(charge.cents)
        .execute(&mut **tx)
        .await
        .map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
    Ok((
        StatusCode::CREATED,
        format!("receipt {}", done.last_insert_rowid()),
    ))
}
