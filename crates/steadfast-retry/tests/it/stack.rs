//! The stack under test: a retry layer over a scripted service.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use steadfast_core::budget::{Ask, Budget, Ending, Permit, Sending};
use steadfast_core::{
    BoxError, CallState, Event, Failure, Hint, Outcome, Random, Reason, Report, Safety,
};
use steadfast_kit::{Chunks, Piece, Probe, Step};
use steadfast_retry::{ReplayBody, ResponseBody, Retry, RetryConfig, RetryLayer};
use tower::{Layer, ServiceExt};

pub(crate) type Sent = Request<ReplayBody<Chunks>>;
pub(crate) type Inner = Probe<Sent, Response<Chunks>>;
pub(crate) type Answered = Result<Response<ResponseBody<Chunks>>, BoxError>;
pub(crate) type Script = Step<Sent, Response<Chunks>>;

/// A budget that never says no.
#[derive(Debug)]
pub(crate) struct Unlimited;

impl Budget for Unlimited {
    fn on_call(&self, _: std::time::Instant) {}

    fn on_outcome(&self, _: Sending, _: Ending, _: std::time::Instant) {}

    fn reserve(&self, _: Ask) -> Option<Permit> {
        Some(Permit::free())
    }
}

/// Seeded, and with a budget that never says no.
pub(crate) fn config() -> RetryConfig {
    RetryConfig::new()
        .with_budget(Unlimited)
        .with_random(Random::seeded(1))
}

pub(crate) fn attempts(n: u32) -> NonZeroU32 {
    NonZeroU32::new(n).unwrap()
}

pub(crate) fn stack(config: RetryConfig, script: Vec<Script>) -> (Retry<Inner>, Inner) {
    let probe = Probe::script(script);
    (RetryLayer::new(config).layer(probe.clone()), probe)
}

/// An answer of this status, with a body of that text.
pub(crate) fn status(status: u16, text: &str) -> Script {
    answer(status, &[], Chunks::of([text.to_owned()]))
}

pub(crate) fn answer(status: u16, headers: &[(&'static str, &str)], body: Chunks) -> Script {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(status).unwrap();
    for (name, value) in headers {
        response.headers_mut().append(*name, value.parse().unwrap());
    }
    Step::answer(response)
}

/// The connection breaks.
pub(crate) fn reset() -> Script {
    Step::fail(std::io::Error::from(std::io::ErrorKind::ConnectionReset))
}

pub(crate) fn get() -> Request<Chunks> {
    Request::get("http://api.example/things")
        .body(Chunks::of([""; 0]).with_exact_size())
        .unwrap()
}

pub(crate) fn post(body: Chunks) -> Request<Chunks> {
    Request::post("http://api.example/things")
        .body(body)
        .unwrap()
}

pub(crate) fn with_safety(mut request: Request<Chunks>, safety: Safety) -> Request<Chunks> {
    CallState::edit(request.extensions_mut(), |state| state.set_safety(safety));
    request
}

pub(crate) async fn run(retry: &Retry<Inner>, request: Request<Chunks>) -> Answered {
    retry.clone().oneshot(request).await
}

pub(crate) async fn text<B>(response: Response<B>) -> String
where
    B: Body<Error: std::fmt::Debug>,
{
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(bytes.to_vec()).unwrap()
}

pub(crate) fn report(answered: &Answered) -> Report {
    match answered {
        Ok(response) => *response.extensions().get().expect("a report"),
        Err(error) => *Failure::find(&**error).expect("a failure").report(),
    }
}

pub(crate) fn reason(answered: &Answered) -> Option<Reason> {
    report(answered).reason
}

/// What an observer saw of one attempt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Seen {
    pub(crate) attempt: u32,
    pub(crate) hint: Hint,
    pub(crate) wait: Option<Duration>,
}

/// Why a call ended, and how.
pub(crate) type End = (Option<Reason>, Outcome);

/// Keeps the events of a stack.
#[derive(Clone, Debug, Default)]
pub(crate) struct Events {
    pub(crate) attempts: Arc<Mutex<Vec<Seen>>>,
    pub(crate) ends: Arc<Mutex<Vec<End>>>,
}

impl Events {
    pub(crate) fn observe(&self, config: RetryConfig) -> RetryConfig {
        let events = self.clone();
        config.with_observer(move |event: &Event<'_>| match event {
            Event::Attempted(it) => {
                let seen = Seen {
                    attempt: it.attempt,
                    hint: it.hint,
                    wait: it.wait,
                };
                events.attempts.lock().unwrap().push(seen);
            }
            Event::Ended(it) => {
                events
                    .ends
                    .lock()
                    .unwrap()
                    .push((it.report.reason, it.report.outcome));
            }
            _ => {}
        })
    }

    pub(crate) fn waits(&self) -> Vec<Option<Duration>> {
        self.attempts
            .lock()
            .unwrap()
            .iter()
            .map(|seen| seen.wait)
            .collect()
    }

    pub(crate) fn ends(&self) -> Vec<End> {
        self.ends.lock().unwrap().clone()
    }
}

pub(crate) fn chunk(text: &str) -> Piece {
    Piece::data(text.to_owned())
}

/// Reads the request body, then goes on as `step` says.
pub(crate) fn reading(
    bodies: &Arc<Mutex<Vec<Bytes>>>,
    result: Result<Response<Chunks>, BoxError>,
) -> Script {
    let bodies = bodies.clone();
    Step::call(move |request: Sent| async move {
        let bytes = request.into_body().collect().await?.to_bytes();
        bodies.lock().unwrap().push(bytes);
        result
    })
}

pub(crate) fn ok(text: &str) -> Response<Chunks> {
    Response::new(Chunks::of([text.to_owned()]))
}

pub(crate) fn unavailable() -> Response<Chunks> {
    let mut response = ok("unavailable");
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    response
}

/// A body for stacks that want a plain one.
pub(crate) fn full(text: &'static str) -> Full<Bytes> {
    Full::new(Bytes::from_static(text.as_bytes()))
}
