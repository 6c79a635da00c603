//! Layers that fail, around axum's routes, without a `HandleError`.

use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use steadfast_admission::breaker::BreakerConfig;
use steadfast_admission::bulkhead::BulkheadConfig;
use steadfast_admission::{ArrivalsLayer, BreakerLayer, BulkheadLayer, CooldownLayer};
use steadfast_axum::{AnsweredLayer, Problem};
use steadfast_core::{BoxError, Cut, Elapsed, Failure, Outcome, Reason, Rejected, Report};
use steadfast_deadline::server::InboundDeadlineLayer;
use steadfast_deadline::{AttemptTimeoutLayer, CallLimitLayer};
use steadfast_kit::contract::{Inner, Promise, Subject, assert_contract};
use steadfast_kit::{Chunks, Probe, Readiness, Step};
use tower::{ServiceBuilder, ServiceExt};

fn one_place() -> BulkheadLayer {
    let none = Duration::ZERO;
    let config = BulkheadConfig::default().with_limit(1.try_into().unwrap());
    BulkheadLayer::new(config.with_max_wait(none))
}

fn request(path: &str) -> Request {
    let request = Request::get(path).header(header::HOST, "shop.example");
    request.body(Body::empty()).unwrap()
}

async fn ask(app: &Router, path: &str) -> Response {
    app.clone().oneshot(request(path)).await.unwrap()
}

/// The status, `Retry-After` and `code` of an answer in problem details.
async fn problem(answer: Response) -> (u16, Option<String>, String) {
    let (head, body) = answer.into_parts();
    assert_eq!(
        head.headers[header::CONTENT_TYPE],
        "application/problem+json"
    );
    let body = to_bytes(body, 4096).await.unwrap();
    let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(body["status"], head.status.as_u16());
    let wait = head.headers.get(header::RETRY_AFTER);
    let wait = wait.map(|wait| wait.to_str().unwrap().to_owned());
    (
        head.status.as_u16(),
        wait,
        body["code"].as_str().unwrap().to_owned(),
    )
}

#[tokio::test(start_paused = true)]
async fn routes_share_the_state_of_one_layer_value_and_answer_its_refusals() {
    let limited = ServiceBuilder::new()
        .layer(AnsweredLayer::new())
        .layer(one_place());
    let app = Router::new()
        .route(
            "/report",
            get(async || "report").route_layer(limited.clone()),
        )
        .route("/export", get(async || "export").route_layer(limited))
        .route("/health", get(async || "ok"));
    // A place is held until the body is read.
    let unread = ask(&app, "/report").await;
    assert_eq!(unread.status(), StatusCode::OK);
    let (status, _, code) = problem(ask(&app, "/export").await).await;
    assert_eq!((status, code.as_str()), (503, "bulkhead_full"));
    assert_eq!(ask(&app, "/health").await.status(), StatusCode::OK);
    drop(unread);
    assert_eq!(ask(&app, "/export").await.status(), StatusCode::OK);
}

/// That it compiles is the point: axum takes only layers that cannot fail.
#[tokio::test(start_paused = true)]
async fn every_layer_stands_around_a_route_without_handle_error() {
    let open = BreakerLayer::new(
        BreakerConfig::default().with_consecutive_failures(1.try_into().unwrap()),
    );
    let all = ServiceBuilder::new()
        .layer(InboundDeadlineLayer::default())
        .layer(ArrivalsLayer::default())
        .layer(AnsweredLayer::new())
        .layer(CallLimitLayer::new(Duration::from_secs(9)))
        .layer(CooldownLayer::default())
        .layer(one_place())
        .layer(open)
        .layer(AttemptTimeoutLayer::new(Duration::from_secs(5)));
    let hangs = async || std::future::pending::<&str>().await;
    let app = Router::new().route("/hangs", get(hangs)).layer(all);
    let (status, _, code) = problem(ask(&app, "/hangs").await).await;
    assert_eq!((status, code.as_str()), (504, "attempt_timeout"));
    let (status, wait, code) = problem(ask(&app, "/hangs").await).await;
    assert_eq!((status, code.as_str()), (503, "circuit_open"));
    assert!(wait.unwrap().parse::<u64>().unwrap() > 0);
}

#[tokio::test]
async fn a_handler_answers_for_the_calls_it_makes() {
    async fn calls(error: BoxError) -> Result<(), Problem> {
        Err(error).map_err(|error: BoxError| Problem::of_call(&*error))
    }
    let late = || Elapsed::new(Duration::from_secs(1), Cut::Deadline);
    let report = Report::new(2, Duration::ZERO, Some(Reason::Deadline), Outcome::Unknown);
    let soon = Rejected::new(Reason::CircuitOpen).with_retry_in(Duration::from_millis(1_200));
    let cases: [(BoxError, u16, Option<&str>, &str); 5] = [
        (Box::new(soon), 503, Some("2"), "circuit_open"),
        (
            Box::new(Rejected::new(Reason::Deadline)),
            504,
            None,
            "deadline",
        ),
        (Box::new(late()), 504, None, "deadline"),
        (
            Box::new(Failure::new(report, "broke")),
            504,
            None,
            "deadline",
        ),
        ("broke".into(), 502, None, "upstream"),
    ];
    for (error, status, wait, code) in cases {
        let text = error.to_string();
        let answer = problem(calls(error).await.into_response()).await;
        assert_eq!(
            answer,
            (status, wait.map(str::to_owned), code.to_owned()),
            "{text}"
        );
    }
    let own = Problem::of_server(&*BoxError::from("broke"));
    assert_eq!((own.status().as_u16(), own.code()), (500, "internal"));
}

#[tokio::test]
async fn a_readiness_that_fails_is_the_answer_of_the_next_call_and_of_no_clone() {
    let answered = || Step::answer(Response::new(Body::from("up")));
    let probe = Probe::<Request, Response>::script([answered()]).with_readiness([
        Readiness::fail(Rejected::new(Reason::Cooldown)),
        Readiness::Now,
    ]);
    let mut service = tower::Layer::layer(&AnsweredLayer::new(), probe.clone());
    use tower::Service;
    service.ready().await.unwrap();
    let clone = service.clone();
    let (status, _, code) = problem(service.call(request("/")).await.unwrap()).await;
    assert_eq!((status, code.as_str()), (503, "cooldown"));
    let answer = clone.oneshot(request("/")).await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
}

struct OverServices;

impl Subject for OverServices {
    type Sent = Chunks;
    type Answer = Body;
    type Service = steadfast_axum::Answered<Inner<Chunks>>;
    type Layer = AnsweredLayer;

    fn layer(&self) -> AnsweredLayer {
        AnsweredLayer::new()
    }

    fn excepted(&self) -> Vec<(Promise, &'static str)> {
        vec![(Promise::Errors, "errors are what it answers")]
    }
}

#[tokio::test(start_paused = true)]
async fn the_layer_keeps_every_promise_but_that_errors_pass() {
    assert_contract(&OverServices).await;
}

#[tokio::test]
async fn a_layer_of_a_method_router_holds_for_its_methods_alone() {
    let limited = ServiceBuilder::new()
        .layer(AnsweredLayer::new())
        .layer(one_place());
    let writes = post(async || "written").route_layer(limited);
    let app = Router::new().route("/doc", writes.get(async || "read"));
    let write = |app: &Router| {
        let write = Request::post("/doc").body(Body::empty()).unwrap();
        app.clone().oneshot(write)
    };
    let unread = write(&app).await.unwrap();
    assert_eq!(write(&app).await.unwrap().status(), 503);
    assert_eq!(ask(&app, "/doc").await.status(), StatusCode::OK);
    drop(unread);
}
