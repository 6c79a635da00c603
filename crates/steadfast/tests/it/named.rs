//! The type of a whole stack: named, boxed, in a struct and in axum's state.

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{Request, Response, StatusCode};
use axum::routing::get;
use bytes::Bytes;
use http_body_util::Full;
use steadfast::BoxError;
use steadfast::client::{ResponseBody, Standard, StandardFuture, StandardLayer};
use steadfast::hyper::LeafBody;
use steadfast::reqwest::{Client, Leaf, LeafFuture, ReqwestClassify, client_builder};
use steadfast::retry::ReplayBody;
use steadfast::{axum::Problem, server};
use tower::util::BoxCloneSyncService;
use tower::{Layer, Service, ServiceExt};

/// Everything a user needs to write to name a client's stack.
type Calls = Client<Standard<Leaf>>;

#[derive(Clone)]
struct Needs {
    calls: Calls,
    boxed: Boxed,
}

type Boxed =
    BoxCloneSyncService<Request<Full<Bytes>>, Response<ResponseBody<reqwest::Body>>, BoxError>;

fn leaf() -> Leaf {
    Leaf::new(client_builder().no_proxy().build().unwrap())
}

fn layer() -> StandardLayer {
    StandardLayer::default().with_classify(ReqwestClassify)
}

async fn asks(State(needs): State<Needs>) -> Result<&'static str, Problem> {
    // Nothing listens at the port of discarding.
    let url = "http://127.0.0.1:9/";
    let error = needs.calls.get(url).send().await.unwrap_err();
    let request = Request::get(url).body(Full::default()).unwrap();
    assert!(needs.boxed.clone().oneshot(request).await.is_err());
    Err(Problem::of_call(&error))
}

#[tokio::test(start_paused = true)]
async fn a_stack_is_named_boxed_and_kept_in_axums_state() {
    let needs = Needs {
        calls: Client::new(layer().layer(leaf())),
        boxed: Boxed::new(layer().layer(leaf())),
    };
    let app = Router::new()
        .route("/", get(asks))
        .with_state(needs)
        .layer(server::StandardLayer::default());
    let request = Request::get("/").body(Body::empty()).unwrap();
    let answer = app.oneshot(request).await.unwrap();
    assert_eq!(answer.status(), StatusCode::BAD_GATEWAY);
}

#[test]
fn auto_traits_are_those_of_what_is_inside() {
    fn shared<T: Clone + Send + Sync + 'static>() {}
    fn sent<T: Send + 'static>() {}
    shared::<StandardLayer>();
    shared::<Standard<Leaf>>();
    shared::<Calls>();
    shared::<server::StandardLayer>();
    shared::<server::Standard<Leaf>>();
    sent::<StandardFuture<Leaf, LeafFuture, LeafBody, reqwest::Body>>();
    sent::<ResponseBody<reqwest::Body>>();
    fn takes<S: Service<Request<ReplayBody<LeafBody>>>>() {}
    takes::<Leaf>();
}
