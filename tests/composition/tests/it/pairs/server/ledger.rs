//! A real database behind a handler, protected by the idempotency layer.

use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::map_request;
use axum::routing::post;
use steadfast::axum::Transaction;
use steadfast::idempotency::server::{IdempotencyConfig, IdempotencyLayer};
use steadfast::sqlx::{SqliteStore, SqliteTx};
use tokio::sync::Semaphore;

use super::{Account, Count, SECOND};

/// A ledger in a file of its own, its handler, and the layer that protects it.
pub(crate) struct Ledger {
    store: SqliteStore,
    layer: IdempotencyLayer<SqliteStore>,
    /// A charge takes one of these before it answers.
    pub(crate) may_answer: Arc<Semaphore>,
    /// And puts one of these there when it has had its effect.
    charged: Arc<Semaphore>,
    pub(crate) runs: Count,
    _directory: tempfile::TempDir,
}

impl Ledger {
    /// One whose charges answer at once.
    pub(crate) async fn open() -> Self {
        let ledger = Self::whose_charges_wait().await;
        ledger.may_answer.add_permits(1_000);
        ledger
    }

    /// One whose charges have their effect, and answer when they may.
    pub(crate) async fn whose_charges_wait() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(Path::join(directory.path(), "ledger.db"))
            .await
            .unwrap();
        sqlx::query("CREATE TABLE charge (id INTEGER PRIMARY KEY, cents INTEGER)")
            .execute(store.writer())
            .await
            .unwrap();
        let scope = |parts: &http::request::Parts| {
            let account = parts.extensions.get::<Account>();
            account.map(|account| account.0.clone())
        };
        Self {
            layer: IdempotencyLayer::new(store.clone(), IdempotencyConfig::new(scope)),
            store,
            may_answer: Arc::new(Semaphore::new(0)),
            charged: Arc::new(Semaphore::new(0)),
            runs: Count::default(),
            _directory: directory,
        }
    }

    pub(crate) fn layer(&self) -> IdempotencyLayer<SqliteStore> {
        self.layer.clone()
    }

    /// The handler alone.
    pub(crate) fn app(&self) -> Router {
        let (runs, charged) = (self.runs.clone(), self.charged.clone());
        let may_answer = self.may_answer.clone();
        let charge = move |mut tx: Transaction<SqliteTx>| async move {
            runs.one();
            sqlx::query("INSERT INTO charge (cents) VALUES (2000)")
                .execute(&mut **tx)
                .await
                .unwrap();
            charged.add_permits(1);
            may_answer.acquire().await.unwrap().forget();
            (StatusCode::CREATED, "charged ".repeat(100))
        };
        Router::new().route("/charges", post(charge))
    }

    /// An app that knows its caller already, with these layers around it.
    pub(crate) fn known(app: Router) -> Router {
        app.layer(map_request(async |mut request: Request| {
            request.extensions_mut().insert(Account("a".to_owned()));
            request
        }))
    }

    pub(crate) async fn charges(&self) -> i64 {
        sqlx::query_scalar("SELECT count(*) FROM charge")
            .fetch_one(self.store.reader())
            .await
            .unwrap()
    }

    /// Waits until this many charges have had their effects, since it was last asked.
    pub(crate) async fn has_charged(&self, times: u32) {
        let charged = tokio::time::timeout(20 * SECOND, self.charged.acquire_many(times)).await;
        charged.unwrap().unwrap().forget();
    }

    /// Waits for work whose caller has gone.
    pub(crate) async fn drain(&self) {
        self.layer.drain(20 * SECOND).await.unwrap();
    }
}

/// A charge under this key.
pub(crate) fn charge(key: &str) -> Request {
    let key = format!("\"{key}\"");
    let request = Request::post("/charges").header("idempotency-key", key);
    request.body(Body::empty()).unwrap()
}
