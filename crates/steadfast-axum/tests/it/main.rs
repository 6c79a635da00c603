//! The extractors on a real router, over a real SQLite file.
#![allow(clippy::unwrap_used, reason = "tests, and what tests are made of")]

use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Extension, OriginalUri, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use http_body_util::BodyExt;
use steadfast_axum::{IdempotencyKey, Transaction, original_target};
use steadfast_idempotency::server::{IdempotencyConfig, IdempotencyLayer, Settlement};
use steadfast_idempotency_sqlx::{SqliteStore, SqliteTx};
use tempfile::TempDir;
use tower::ServiceExt;

mod answered;
mod deadline;
mod lease;
mod retry;

#[derive(Clone)]
struct Account(String);

/// Authentication, for the test: the bearer token is the account.
async fn authenticate(mut request: Request, next: Next) -> Response {
    let token = request.headers().get(header::AUTHORIZATION).cloned();
    if let Some(token) = token.as_ref().and_then(|token| token.to_str().ok()) {
        request.extensions_mut().insert(Account(token.to_owned()));
    }
    next.run(request).await
}

struct Shop {
    store: SqliteStore,
    layer: IdempotencyLayer<SqliteStore>,
    _directory: TempDir,
}

impl Shop {
    async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(directory.path().join("shop.sqlite"))
            .await
            .unwrap();
        sqlx::raw_sql("CREATE TABLE charge (account TEXT, child TEXT)")
            .execute(store.writer())
            .await
            .unwrap();
        let config = IdempotencyConfig::new(|parts: &Parts| {
            parts
                .extensions
                .get::<Account>()
                .map(|account| account.0.clone())
        })
        .with_target(original_target::<OriginalUri>);
        let layer = IdempotencyLayer::new(store.clone(), config);
        Self {
            store,
            layer,
            _directory: directory,
        }
    }

    fn routes(&self) -> Router {
        Router::new()
            .route("/charges", post(charge).get(async || "list"))
            .route("/refuse", post(refuse))
            .route("/twice", post(twice))
            .route("/other", post(other_store))
            .route_layer(self.layer.clone())
            .route("/bare", post(charge).get(bare_key))
    }

    fn app(&self) -> Router {
        Router::new()
            .nest("/v1", self.routes())
            .nest("/v2", self.routes())
            .layer(from_fn(authenticate))
            .layer(Extension(self.store.clone()))
    }

    async fn charges(&self) -> i64 {
        sqlx::query_scalar("SELECT count(*) FROM charge")
            .fetch_one(self.store.reader())
            .await
            .unwrap()
    }
}

async fn charge(
    Extension(account): Extension<Account>,
    key: IdempotencyKey,
    mut tx: Transaction<SqliteTx>,
    body: String,
) -> Result<Response, StatusCode> {
    assert_eq!(key.scope(), account.0);
    sqlx::query("INSERT INTO charge (account, child) VALUES (?1, ?2)")
        .bind(key.scope())
        .bind(key.child("capture").as_str())
        .execute(&mut **tx)
        .await
        .map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
    let location = [(header::LOCATION, "/charges/1")];
    Ok((StatusCode::CREATED, location, format!("charged {body}")).into_response())
}

async fn refuse(mut tx: Transaction<SqliteTx>) -> impl IntoResponse {
    sqlx::query("INSERT INTO charge (account) VALUES ('audited')")
        .execute(&mut **tx)
        .await
        .unwrap();
    (
        StatusCode::PAYMENT_REQUIRED,
        Extension(Settlement::Commit),
        "declined",
    )
}

async fn twice(_one: Transaction<SqliteTx>, _two: Transaction<SqliteTx>) {}

async fn other_store(_: Transaction<String>) {}

async fn bare_key(_: IdempotencyKey) {}

async fn send(
    app: &Router,
    method: &str,
    path: &str,
    key: &str,
) -> (StatusCode, HeaderMap, String) {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::AUTHORIZATION, "ann")
        .header("idempotency-key", format!("\"{key}\""))
        .body(Body::from("4200"))
        .unwrap();
    let (parts, body) = app.clone().oneshot(request).await.unwrap().into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    (
        parts.status,
        parts.headers,
        String::from_utf8(body.to_vec()).unwrap(),
    )
}

#[tokio::test]
async fn a_handler_charges_in_the_transaction_of_its_request() {
    let shop = Shop::new().await;
    let app = shop.app();
    let (status, first, body) = send(&app, "POST", "/v1/charges", "k").await;
    assert_eq!((status, &body[..]), (StatusCode::CREATED, "charged 4200"));
    let (status, again, body) = send(&app, "POST", "/v1/charges", "k").await;
    assert_eq!((status, &body[..]), (StatusCode::CREATED, "charged 4200"));
    for name in [header::LOCATION, header::CONTENT_TYPE] {
        assert_eq!(first[&name], again[&name]);
    }
    assert_eq!(again["idempotent-replayed"], "true");
    assert_eq!(shop.charges().await, 1);
    shop.layer.drain(Duration::from_secs(5)).await.unwrap();
}

#[tokio::test]
async fn nested_routers_with_equal_inner_paths_are_different_routes() {
    let shop = Shop::new().await;
    let app = shop.app();
    send(&app, "POST", "/v1/charges", "k").await;
    let (status, _, body) = send(&app, "POST", "/v2/charges", "k").await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(body.contains("\"key-reused\""), "{body}");
    assert_eq!(shop.charges().await, 1);
}

#[tokio::test]
async fn a_handlers_settlement_overrides_its_status() {
    let shop = Shop::new().await;
    let app = shop.app();
    for replayed in [false, true] {
        let (status, headers, body) = send(&app, "POST", "/v1/refuse", "k").await;
        assert_eq!(
            (status, &body[..]),
            (StatusCode::PAYMENT_REQUIRED, "declined")
        );
        assert_eq!(headers.contains_key("idempotent-replayed"), replayed);
    }
    assert_eq!(shop.charges().await, 1);
}

#[tokio::test]
async fn extractors_say_what_is_missing() {
    let shop = Shop::new().await;
    let app = shop.app();
    let rows = [
        ("POST", "/v1/bare", "not-protected"),
        ("GET", "/v1/bare", "not-protected"),
        ("POST", "/v1/twice", "transaction-unavailable"),
        ("POST", "/v1/other", "other-store"),
    ];
    for (method, path, code) in rows {
        let (status, headers, body) = send(&app, method, path, "k").await;
        assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR, "{path}");
        assert_eq!(headers[header::CONTENT_TYPE], "application/problem+json");
        assert!(
            body.contains(&format!("\"code\":\"{code}\"")),
            "{path} {body}"
        );
        assert!(body.starts_with('{') && body.ends_with('}'));
    }
}

#[tokio::test]
async fn reads_pass_untouched() {
    let shop = Shop::new().await;
    let (status, headers, body) = send(&shop.app(), "GET", "/v1/charges", "k").await;
    assert_eq!((status, &body[..]), (StatusCode::OK, "list"));
    assert!(!headers.contains_key("idempotent-replayed"));
}

#[tokio::test]
async fn a_client_that_hangs_up_on_a_real_server_finds_its_answer_later() {
    let shop = Shop::new().await;
    let gate = std::sync::Arc::new(tokio::sync::Notify::new());
    let (entered, reached) = tokio::sync::mpsc::channel::<()>(1);
    let held = gate.clone();
    let slow = move |mut tx: Transaction<SqliteTx>| {
        let (held, entered) = (held.clone(), entered.clone());
        async move {
            sqlx::query("INSERT INTO charge (account) VALUES ('slow')")
                .execute(&mut **tx)
                .await
                .unwrap();
            entered.send(()).await.unwrap();
            held.notified().await;
            "charged"
        }
    };
    let app = Router::new()
        .route("/slow", post(slow))
        .route("/", get(async || "up"))
        .route_layer(shop.layer.clone())
        .layer(from_fn(authenticate));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move { axum::serve(listener, app).await });

    let request = "POST /slow HTTP/1.1\r\nhost: x\r\nauthorization: ann\r\n\
                   idempotency-key: \"k\"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    let mut reached = reached;
    let first = exchange(address, request);
    tokio::select! {
        _ = first => panic!("answered before its handler could"),
        entered = reached.recv() => entered.unwrap(),
    }
    // The connection is closed here, in the middle of the handler.
    gate.notify_one();
    shop.layer.drain(Duration::from_secs(10)).await.unwrap();
    let answer = exchange(address, request).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    assert!(answer.contains("idempotent-replayed: true"), "{answer}");
    assert!(answer.ends_with("charged"), "{answer}");
    assert_eq!(shop.charges().await, 1);
    server.abort();
}

async fn exchange(address: std::net::SocketAddr, request: &str) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}
