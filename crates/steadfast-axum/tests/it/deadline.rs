//! The deadline of a request in an axum handler.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderName, StatusCode, request::Parts};
use axum::response::Response;
use axum::routing::{get, post};
use http_body_util::Full;
use steadfast_axum::{RequestContext, RequestDeadline, Transaction};
use steadfast_core::{CallContext, Random, without_context};
use steadfast_deadline::server::{InboundConfig, InboundDeadlineLayer, InboundTrust};
use steadfast_deadline::{AttemptTimeoutLayer, PropagateLayer};
use steadfast_idempotency::server::{IdempotencyConfig, IdempotencyLayer};
use steadfast_idempotency_sqlx::{SqliteStore, SqliteTx};
use steadfast_retry::{ReplayBody, RetryConfig, RetryLayer};
use tokio::time::Instant;
use tower::{ServiceBuilder, ServiceExt, service_fn};

const ENVOY: &str = "x-envoy-expected-rq-timeout-ms";
const MS: Duration = Duration::from_millis(1);

fn config() -> InboundConfig {
    InboundConfig::new()
        .with_trust(InboundTrust::Everything)
        .with_operation_header(HeaderName::from_static("x-request-id"))
}

fn request(path: &str) -> Request {
    let request = Request::post(path)
        .header(ENVOY, 300)
        .header("x-request-id", "op-1");
    request
        .header("idempotency-key", "\"k\"")
        .body(Body::empty())
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn extractors_show_deadline_and_context() {
    async fn look(deadline: RequestDeadline, context: RequestContext) -> String {
        assert_eq!(deadline.deadline(), context.deadline());
        let before = deadline.left();
        tokio::time::sleep(40 * MS).await;
        let after = deadline.left();
        format!("{before:?} {after:?} {:?}", context.operation())
    }
    let app = Router::new().route("/", post(look));
    let served = app.clone().layer(InboundDeadlineLayer::new(config()));
    for (app, want) in [
        (served, "Some(290ms) Some(250ms) Some(\"op-1\")"),
        (app, "None None None"),
    ] {
        let answer = app.oneshot(request("/")).await.unwrap();
        let body = axum::body::to_bytes(answer.into_body(), 1024)
            .await
            .unwrap();
        assert_eq!(body, want);
    }
}

/// Asks a peer that is unavailable, through retry, attempt timeout and propagation.
async fn calls_out(State(told): State<Arc<Mutex<Vec<u64>>>>) -> StatusCode {
    let peer = service_fn(move |request: http::Request<ReplayBody<Full<Bytes>>>| {
        let left = request.headers()[ENVOY].to_str().unwrap().parse().unwrap();
        told.lock().unwrap().push(left);
        async {
            tokio::time::sleep(20 * MS).await;
            let mut answer = http::Response::new(Full::<Bytes>::default());
            *answer.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
            Ok::<_, std::io::Error>(answer)
        }
    });
    let client = ServiceBuilder::new()
        .layer(RetryLayer::new(
            RetryConfig::new().with_random(Random::seeded(4)),
        ))
        .layer(AttemptTimeoutLayer::default())
        .layer(PropagateLayer::default())
        .service(peer);
    let call = http::Request::get("http://ledger.example/");
    match client.oneshot(call.body(Full::default()).unwrap()).await {
        Ok(answer) => answer.status(),
        Err(_) => StatusCode::BAD_GATEWAY,
    }
}

// O-10.
#[tokio::test(start_paused = true)]
async fn a_handlers_client_tells_each_attempt_less_without_any_code_of_the_handlers() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let app = Router::new()
        .route("/", post(calls_out))
        .with_state(told.clone())
        .layer(InboundDeadlineLayer::new(config()));
    let before = Instant::now();
    let answer = app.oneshot(request("/")).await.unwrap();
    assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(before.elapsed() <= 290 * MS, "{:?}", before.elapsed());
    let told = told.lock().unwrap();
    assert!(told.len() >= 2, "{told:?}");
    assert!(told.is_sorted_by(|one, next| one > next), "{told:?}");
    assert_eq!(told[0], 290);
}

#[tokio::test(start_paused = true)]
async fn an_expired_request_reaches_no_handler_and_no_extractor() {
    async fn never(_: Bytes) -> &'static str {
        panic!("worked for a caller who has gone")
    }
    let app = Router::new()
        .route("/", post(never))
        .layer(InboundDeadlineLayer::new(config()));
    let mut request = request("/");
    request.headers_mut().insert(ENVOY, 0.into());
    let answer: Response = app.oneshot(request).await.unwrap();
    assert_eq!(answer.status(), StatusCode::GATEWAY_TIMEOUT);
    assert_eq!(answer.headers()["content-type"], "application/problem+json");
}

#[tokio::test(start_paused = true)]
async fn a_router_behind_a_task_of_its_own_finds_the_context_on_the_request() {
    async fn look(context: RequestContext) -> String {
        format!("{:?}", context.operation())
    }
    let app = Router::new().route("/", post(look));
    let tasked = service_fn(move |request: Request| {
        let app = app.clone();
        async move { Ok::<_, Infallible>(tokio::spawn(app.oneshot(request)).await.unwrap().unwrap()) }
    });
    let served = ServiceBuilder::new()
        .layer(InboundDeadlineLayer::new(config()))
        .service(tasked);
    let answer = served.oneshot(request("/")).await.unwrap();
    let body = Body::new(answer.into_body());
    assert_eq!(
        axum::body::to_bytes(body, 1024).await.unwrap(),
        "Some(\"op-1\")"
    );
}

#[tokio::test]
async fn the_idempotency_servers_task_keeps_the_callers_deadline() {
    async fn charge(mut tx: Transaction<SqliteTx>) -> String {
        sqlx::query("INSERT INTO charge VALUES (1)")
            .execute(&mut **tx)
            .await
            .unwrap();
        let left = CallContext::current_deadline().left(Instant::now().into_std());
        let background = without_context(async { CallContext::current().deadline() }).await;
        assert_eq!(background.instant(), None);
        assert_eq!(CallContext::current().operation(), Some("op-1"));
        format!(
            "{}",
            left.is_some_and(|left| left <= Duration::from_secs(30))
        )
    }
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path().join("shop.sqlite"))
        .await
        .unwrap();
    sqlx::raw_sql("CREATE TABLE charge (id INTEGER)")
        .execute(store.writer())
        .await
        .unwrap();
    let idempotency = IdempotencyConfig::new(|_: &Parts| Some("the only caller"));
    let app = Router::new()
        .route("/", get(async || "list").post(charge))
        .route_layer(IdempotencyLayer::new(store, idempotency))
        .layer(InboundDeadlineLayer::new(config()));
    let mut request = request("/");
    request.headers_mut().insert(ENVOY, 30_000.into());
    let answer = app.oneshot(request).await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    let body = axum::body::to_bytes(answer.into_body(), 1024)
        .await
        .unwrap();
    assert_eq!(body, "true");
}
