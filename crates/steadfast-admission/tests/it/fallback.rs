//! Answers in the place of failures for chosen reasons.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt;
use steadfast_admission::FallbackLayer;
use steadfast_admission::fallback::{FallbackBody, Fell, FellBackFrom};
use steadfast_core::{BoxError, Failure, Outcome, Reason, Rejected, Report};
use steadfast_kit::{Chunks, Probe, Step};
use tower::{Layer, ServiceExt};

mod answers;
mod bodies;
mod contract;
mod cost;
mod errors;
mod tells;

type Peer = Probe<Request<()>, Response<Chunks>>;
type Answered = Result<Response<FallbackBody<Chunks>>, BoxError>;

/// Stands in, and says for what.
fn stand_in(fell: &Fell<'_>) -> Response<Bytes> {
    let bytes = Bytes::from(format!("instead of {}", fell.reason()));
    let answer = Response::builder().status(203).header("x-own", "1");
    answer.body(bytes).unwrap()
}

type StandIn = fn(&Fell<'_>) -> Response<Bytes>;

fn layer(reasons: impl IntoIterator<Item = Reason>) -> FallbackLayer<StandIn> {
    FallbackLayer::new(reasons, stand_in as StandIn)
}

fn report(reason: impl Into<Option<Reason>>) -> Report {
    let elapsed = Duration::from_millis(7);
    Report::new(3, elapsed, reason.into(), Outcome::Unknown)
}

fn reset() -> io::Error {
    io::Error::from(io::ErrorKind::ConnectionReset)
}

/// A call whose inner service fails so.
async fn fails<F>(layer: &FallbackLayer<F>, error: impl Into<BoxError>) -> Answered
where
    F: Fn(&Fell<'_>) -> Response<Bytes>,
{
    let peer = Peer::script([Step::fail(error)]);
    layer.layer(peer).oneshot(Request::new(())).await
}

/// A call whose inner service answers so.
async fn answers<F>(layer: &FallbackLayer<F>, answer: Response<Chunks>) -> Answered
where
    F: Fn(&Fell<'_>) -> Response<Bytes>,
{
    let peer = Peer::script([Step::answer(answer)]);
    layer.layer(peer).oneshot(Request::new(())).await
}

/// The peer's last word in a call that ended for this reason.
fn last_answer(reason: impl Into<Option<Reason>>) -> Response<Chunks> {
    let mut answer = Response::new(Chunks::of(["the peer's"]));
    *answer.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    answer.extensions_mut().insert(report(reason));
    answer
}

async fn text(answered: Answered) -> String {
    let body = answered.unwrap().into_body();
    let bytes = body.collect().await.unwrap().to_bytes();
    String::from_utf8(bytes.into()).unwrap()
}
