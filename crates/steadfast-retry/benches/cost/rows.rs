//! What is measured: each row makes one call of a stack.

use std::future::Future;
use std::hint::black_box;
use std::pin::pin;
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, StatusCode, Uri, header};
use http_body_util::Full;
use steadfast_core::Ratio;
use steadfast_core::backoff::{Backoff, Jitter};
use steadfast_core::budget::RatioBudget;
use steadfast_retry::{RetryConfig, RetryLayer};
use tower::retry::RetryLayer as TowerRetryLayer;
use tower::retry::backoff::{ExponentialBackoffMaker, MakeBackoff};
use tower::retry::budget::TpsBudget;
use tower::util::rng::HasherRng;
use tower::{Layer, Service};

use crate::services::{AtOnce, Stream, TowerAtOnce, TowerPolicy, Upload};

/// One stack and one request.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) group: &'static str,
    /// Calls in a round.
    pub(crate) calls: u32,
    pub(crate) call: Box<dyn FnMut()>,
}

pub(crate) const IDLE: &str = "idle";
pub(crate) const HEADERS: &str = "idle, 8 headers";
pub(crate) const FRAME: &str = "idle, one frame";
pub(crate) const FAILS_ONCE: &str = "503, then 200";
pub(crate) const UPLOAD: &str = "upload, unknown length";
pub(crate) const UPLOAD_KNOWN: &str = "upload, known length";
pub(crate) const COPY: &str = "copy, unknown length";

pub(crate) const BARE: &str = "bare";
pub(crate) const TOWER: &str = "tower";
pub(crate) const OURS: &str = "ours";

const TWO: &[StatusCode] = &[StatusCode::SERVICE_UNAVAILABLE, StatusCode::OK];
const CALLS: u32 = 2_000;
const UPLOADS: u32 = 2;

pub(crate) fn all() -> Vec<Row> {
    let mut rows = Vec::new();
    let mut add = |group, name, calls, call| {
        rows.push(Row {
            name,
            group,
            calls,
            call,
        });
    };
    for (group, request) in [
        (IDLE, request as fn() -> Request<Full<Bytes>>),
        (HEADERS, with_headers),
        (FRAME, with_frame),
    ] {
        add(group, BARE, CALLS, calls(AtOnce::ok(), request));
        add(group, TOWER, CALLS, calls(tower(AtOnce::ok()), request));
        add(group, OURS, CALLS, calls(ours(AtOnce::ok()), request));
    }
    let mut bare = calls(AtOnce::in_turn(TWO), request);
    let twice = Box::new(move || {
        bare();
        bare();
    });
    add(FAILS_ONCE, BARE, CALLS, twice);
    let spendable = TpsBudget::new(Duration::from_secs(10), 1_000_000, 1.0);
    let at_once = TowerAtOnce(Arc::new(spendable));
    let tower_at_once = TowerRetryLayer::new(at_once).layer(AtOnce::in_turn(TWO));
    add(FAILS_ONCE, TOWER, CALLS, calls(tower_at_once, request));
    let at_once = Backoff::default()
        .with_base(Duration::ZERO)
        .with_jitter(Jitter::None);
    let config = RetryConfig::new()
        .with_backoff(at_once)
        .with_budget(RatioBudget::new(Ratio::ONE));
    let ours_at_once = RetryLayer::new(config).layer(AtOnce::in_turn(TWO));
    add(FAILS_ONCE, OURS, CALLS, calls(ours_at_once, request));
    let unknown: fn() -> Request<Stream> = || stream(false);
    let known: fn() -> Request<Stream> = || stream(true);
    let socket = Upload::over_loopback();
    for (group, to, request) in [
        (UPLOAD, &socket, unknown),
        (UPLOAD_KNOWN, &socket, known),
        (COPY, &Upload::Copied, unknown),
    ] {
        add(group, BARE, UPLOADS, calls(to.clone(), request));
        add(group, OURS, UPLOADS, calls(ours(to.clone()), request));
    }
    rows
}

fn tower<S>(inner: S) -> tower::retry::Retry<TowerPolicy, S> {
    let (least, most) = (Duration::from_millis(50), Duration::from_secs(20));
    let maker = ExponentialBackoffMaker::new(least, most, 0.99, HasherRng::default());
    let policy = TowerPolicy {
        budget: Arc::default(),
        backoff: maker.expect("these bounds are in order").make_backoff(),
        retries_left: 2,
    };
    TowerRetryLayer::new(policy).layer(inner)
}

fn ours<S: Clone>(inner: S) -> steadfast_retry::Retry<S> {
    RetryLayer::default().layer(inner)
}

/// Ready, call, poll to the end, as an executor would with nothing in its way.
fn calls<S, B>(mut stack: S, request: fn() -> Request<B>) -> Box<dyn FnMut()>
where
    S: Service<Request<B>, Error: std::fmt::Debug> + 'static,
    B: 'static,
{
    Box::new(move || {
        let mut cx = Context::from_waker(Waker::noop());
        assert!(stack.poll_ready(&mut cx).is_ready());
        let mut call = pin!(stack.call(request()));
        loop {
            if let Poll::Ready(result) = call.as_mut().poll(&mut cx) {
                black_box(result.expect("nothing fails here"));
                return;
            }
        }
    })
}

fn request() -> Request<Full<Bytes>> {
    // Parsed once: a client has its URI in parts.
    static URI: LazyLock<Uri> = LazyLock::new(|| Uri::from_static("/v1/charges"));
    let mut request = Request::new(Full::default());
    *request.uri_mut() = URI.clone();
    request
}

fn with_frame() -> Request<Full<Bytes>> {
    let mut request = request();
    *request.method_mut() = Method::PUT;
    *request.body_mut() = Full::new(Bytes::from_static(b"{\"amount\":700}"));
    request
}

fn with_headers() -> Request<Full<Bytes>> {
    let mut request = request();
    *request.method_mut() = Method::PUT;
    let headers = request.headers_mut();
    headers.reserve(8);
    for (name, value) in [
        (header::HOST, "payments.example"),
        (header::ACCEPT, "application/json"),
        (header::ACCEPT_ENCODING, "gzip, br"),
        (header::USER_AGENT, "bench/1"),
        (header::AUTHORIZATION, "Bearer 0123456789abcdef"),
        (header::CONTENT_TYPE, "application/json"),
        (header::IF_MATCH, "\"7\""),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    request
}

fn stream(known: bool) -> Request<Stream> {
    static FRAME: [u8; 16 * 1024] = [7; 16 * 1024];
    let mut request = Request::new(Stream::new(Bytes::from_static(&FRAME), known));
    *request.method_mut() = Method::PUT;
    request
}
