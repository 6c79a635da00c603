//! The API: axum over SQLite, behind a network that loses what it is told to lose.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::extract::{Form, Request, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::post;
use axum::{Router, serve};
use serde::Deserialize;
use serde_json::json;
use steadfast::BoxError;
use steadfast::axum::Transaction;
use steadfast::idempotency::KeySyntax;
use steadfast::idempotency::server::{IdempotencyConfig, IdempotencyLayer};
use steadfast::sqlx::{SqliteStore, SqliteTx};
use steadfast_kit::{Exchange, Fate, FaultProxy};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

const TABLES: &str = "CREATE TABLE charge (id INTEGER PRIMARY KEY, account TEXT, cents INTEGER);
     CREATE TABLE note (text TEXT);";

pub(crate) struct Api {
    proxy: FaultProxy,
    store: SqliteStore,
    lose: Arc<AtomicBool>,
    refuse: Refusal,
    serving: JoinHandle<()>,
    _directory: TempDir,
}

/// What the next charge is refused with: the word in `Stripe-Should-Retry`.
type Refusal = Arc<Mutex<Option<&'static str>>>;

/// Who calls: the owner of the secret key.
#[derive(Clone)]
struct Account(String);

#[derive(Deserialize)]
struct Charge {
    amount: u32,
    currency: String,
}

impl Api {
    pub(crate) async fn start() -> Result<Self, BoxError> {
        let directory = tempfile::tempdir()?;
        let store = SqliteStore::open(directory.path().join("api.sqlite")).await?;
        sqlx::raw_sql(TABLES).execute(store.writer()).await?;
        let refuse = Refusal::default();
        let scope = |parts: &Parts| parts.extensions.get::<Account>().map(|it| it.0.clone());
        // Bare texts are keys here, as with Stripe.
        let config = IdempotencyConfig::new(scope).with_syntax(KeySyntax::Lenient);
        let app = Router::new()
            .route("/v1/charges", post(charge))
            // The key's layer is a route layer, inside authentication: it must know who calls.
            .route_layer(IdempotencyLayer::new(store.clone(), config))
            .route_layer(from_fn_with_state(refuse.clone(), refusing))
            .route("/v1/notes", post(note))
            .with_state(store.clone())
            .layer(from_fn(authenticate));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let addr = listener.local_addr()?;
        let serving = tokio::spawn(async move {
            if let Err(error) = serve(listener, app).await {
                eprintln!("the API ended: {error}");
            }
        });
        let lose = Arc::new(AtomicBool::new(false));
        let losing = lose.clone();
        let fate = move |_: &Exchange| match losing.swap(false, Ordering::Relaxed) {
            true => Fate::CutAnswer,
            false => Fate::Pass,
        };
        Ok(Self {
            proxy: FaultProxy::start(addr, fate).await?,
            store,
            lose,
            refuse,
            serving,
            _directory: directory,
        })
    }

    pub(crate) fn authority(&self) -> String {
        self.proxy.addr().to_string()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        self.proxy.url(path)
    }

    /// The next answer gets lost after the work was done.
    pub(crate) fn lose_next_answer(&self) {
        self.lose.store(true, Ordering::Relaxed);
    }

    /// The next charge is refused, with this word about a repeat.
    pub(crate) fn refuse_next(&self, should_retry: &'static str) {
        let mut refuse = self.refuse.lock().unwrap_or_else(PoisonError::into_inner);
        *refuse = Some(should_retry);
    }

    pub(crate) async fn charges(&self) -> Result<i64, BoxError> {
        self.count("SELECT count(*) FROM charge").await
    }

    pub(crate) async fn notes(&self) -> Result<i64, BoxError> {
        self.count("SELECT count(*) FROM note").await
    }

    async fn count(&self, query: &'static str) -> Result<i64, BoxError> {
        Ok(sqlx::query_scalar(query)
            .fetch_one(self.store.reader())
            .await?)
    }
}

impl Drop for Api {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// The secret key is the account, for this story.
async fn authenticate(mut request: Request, next: Next) -> Response {
    let secret = request.headers().get(header::AUTHORIZATION);
    let Some(secret) = secret.and_then(|secret| secret.to_str().ok()) else {
        return StatusCode::UNAUTHORIZED.into_response();
    };
    let account = Account(secret.to_owned());
    request.extensions_mut().insert(account);
    next.run(request).await
}

/// Refuses before anything is done, when it is told to.
async fn refusing(State(refuse): State<Refusal>, request: Request, next: Next) -> Response {
    let word = refuse.lock().unwrap_or_else(PoisonError::into_inner).take();
    match word {
        None => next.run(request).await,
        Some(word) => {
            let status = match word {
                // Somebody else holds the lock of the object.
                "true" => StatusCode::CONFLICT,
                _ => StatusCode::INTERNAL_SERVER_ERROR,
            };
            (status, [("stripe-should-retry", word)]).into_response()
        }
    }
}

async fn charge(
    axum::Extension(account): axum::Extension<Account>,
    mut tx: Transaction<SqliteTx>,
    Form(charge): Form<Charge>,
) -> Result<Response, StatusCode> {
    let row = sqlx::query("INSERT INTO charge (account, cents) VALUES (?1, ?2)")
        .bind(account.0)
        .bind(charge.amount)
        .execute(&mut **tx)
        .await
        .map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
    let receipt = json!({
        "id": format!("ch_{}", row.last_insert_rowid()),
        "object": "charge",
        "amount": charge.amount,
        "currency": charge.currency,
    });
    Ok((StatusCode::CREATED, Json(receipt)).into_response())
}

/// A write that no key protects.
async fn note(State(store): State<SqliteStore>, text: String) -> Result<StatusCode, StatusCode> {
    sqlx::query("INSERT INTO note (text) VALUES (?1)")
        .bind(text)
        .execute(store.writer())
        .await
        .map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
    Ok(StatusCode::CREATED)
}
