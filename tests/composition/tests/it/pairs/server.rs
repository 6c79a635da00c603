//! An axum app for the layers of a server to stand around, and what is asked of it.
//!
//! Each layer is put on by a `Router::layer` of its own, as users do; where what a layer does hangs
//! on the readiness of the one below, both stand in one `ServiceBuilder`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::any;
use bytes::Bytes;
use http_body_util::BodyExt;
use steadfast::Ratio;
use steadfast::admission::ArrivalsLayer;
use steadfast::admission::arrivals::ArrivalsConfig;
use steadfast::deadline::server::{InboundConfig, InboundDeadlineLayer};
use tokio::time::sleep;
use tower::ServiceExt;
use tower_http::compression::CompressionLayer;
use tower_http::timeout::TimeoutLayer;

mod arrivals;
mod deadline;
mod idempotency;
mod ledger;
mod readiness;

pub(crate) use ledger::{Ledger, charge};

pub(crate) const SECOND: Duration = Duration::from_secs(1);
/// The header in which a caller says how long it waits.
pub(crate) const TIME: &str = "x-envoy-expected-rq-timeout-ms";

/// Counts, for all clones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Count(Arc<AtomicUsize>);

impl Count {
    pub(crate) fn one(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// Puts a layer around an app.
macro_rules! around {
    // The last is the innermost.
    ($layer:expr; $app:expr) => { $app.layer($layer) };
    ($layer:expr, $($inner:expr),+; $app:expr) => { around!($($inner),+; $app).layer($layer) };
}
pub(crate) use around;

/// A handler that takes so long for an answer that is worth compressing; and how many ran.
pub(crate) fn app(takes: Duration) -> (Router, Count) {
    let runs = Count::default();
    let count = runs.clone();
    let handler = move || {
        count.one();
        async move {
            sleep(takes).await;
            "answer ".repeat(100)
        }
    };
    (Router::new().route("/", any(handler)), runs)
}

pub(crate) fn get() -> Request {
    Request::get("/").body(Body::empty()).unwrap()
}

/// A request whose caller waits so long.
pub(crate) fn waiting(millis: u64) -> Request {
    with(TIME, &millis.to_string(), get())
}

/// A request that its caller sends again.
pub(crate) fn again(request: Request) -> Request {
    with("steadfast-attempt", "2/3", request)
}

pub(crate) fn with(name: &'static str, value: &str, mut request: Request) -> Request {
    let value = value.parse().unwrap();
    request.headers_mut().insert(name, value);
    request
}

pub(crate) async fn ask(app: &Router, request: Request) -> Response<Bytes> {
    let (head, body) = app.clone().oneshot(request).await.unwrap().into_parts();
    Response::from_parts(head, body.collect().await.unwrap().to_bytes())
}

/// Whether an answer is arrivals' "do not come again".
pub(crate) fn is_sent_away<B>(answer: &Response<B>) -> bool {
    let said = answer.headers().get("x-should-retry");
    answer.status() == 503 && said.is_some_and(|said| said == "false")
}

pub(crate) fn is_replay<B>(answer: &Response<B>) -> bool {
    answer.headers().contains_key("idempotent-replayed")
}

pub(crate) fn is_compressed<B>(answer: &Response<B>) -> bool {
    answer.headers().contains_key("content-encoding")
}

pub(crate) fn deadline() -> InboundDeadlineLayer {
    InboundDeadlineLayer::new(InboundConfig::new())
}

/// Sends the retries away that are more than half of at least two.
pub(crate) fn arrivals() -> ArrivalsLayer {
    let config = ArrivalsConfig::new().with_share(Ratio::percent(50).unwrap());
    ArrivalsLayer::new(config.with_minimum(2.try_into().unwrap()))
}

pub(crate) fn compression() -> CompressionLayer {
    CompressionLayer::new()
}

/// 408 after so long.
pub(crate) fn timeout(time: Duration) -> TimeoutLayer {
    TimeoutLayer::with_status_code(StatusCode::REQUEST_TIMEOUT, time)
}

/// Counts the answers that it sees, as tower-http's trace layer does.
macro_rules! trace {
    ($seen:expr) => {{
        let seen = $seen.clone();
        let saw = move |_: &axum::response::Response<_>, _: std::time::Duration, _: &_| seen.one();
        tower_http::trace::TraceLayer::new_for_http().on_response(saw)
    }};
}
pub(crate) use trace;

/// Who calls, as authentication found out.
#[derive(Clone, Debug)]
pub(crate) struct Account(pub(crate) String);

/// Knows callers by a header, and refuses nobody.
macro_rules! authentication {
    ($asked:expr) => {{
        let asked = $asked.clone();
        axum::middleware::map_request(move |mut request: axum::extract::Request| {
            asked.one();
            let said = request.headers().get("account");
            let account = said.map(|said| Account(said.to_str().unwrap().to_owned()));
            if let Some(account) = account {
                request.extensions_mut().insert(account);
            }
            async { request }
        })
    }};
}
pub(crate) use authentication;
