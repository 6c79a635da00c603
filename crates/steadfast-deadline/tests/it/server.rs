//! What a server does with the end of a request, on a paused clock.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use steadfast_core::{CallContext, Deadline, Event, Inbound};
use steadfast_deadline::server::{InboundConfig, InboundDeadline, InboundDeadlineLayer};
use steadfast_kit::{Probe, Step};
use tokio::time::Instant;
use tower::{Layer, ServiceExt};

use crate::MS;

mod body;
mod context;
mod cost;
mod ends;
mod events;
mod hostile;
mod refusals;
mod suite;

const ENVOY: &str = "x-envoy-expected-rq-timeout-ms";

type Body = Full<Bytes>;
type Handler = Probe<Request<()>, Response<Body>>;

/// A request whose caller waits this many milliseconds.
fn waiting(ms: u64) -> Request<()> {
    Request::post("/").header(ENVOY, ms).body(()).unwrap()
}

fn grpc(timeout: &str) -> Request<()> {
    Request::post("/pkg.Service/Call")
        .header("content-type", "application/grpc+proto")
        .header("grpc-timeout", timeout)
        .body(())
        .unwrap()
}

fn ok() -> Response<Body> {
    Response::new(Full::from("done"))
}

fn served<S>(config: InboundConfig, handler: S) -> InboundDeadline<S> {
    InboundDeadlineLayer::new(config).layer(handler)
}

/// An answer, read whole, and when its head was there.
#[derive(Debug)]
struct Got {
    status: StatusCode,
    headers: http::HeaderMap,
    body: Bytes,
    after: Duration,
}

impl Got {
    /// The code of a problem document; `None` for an answer of the handler's.
    fn code(&self) -> Option<String> {
        let json: serde_json::Value = serde_json::from_slice(&self.body).ok()?;
        assert_eq!(self.headers["content-type"], "application/problem+json");
        assert_eq!(json["status"], self.status.as_u16());
        let code = json["code"].as_str().unwrap().to_owned();
        let base = steadfast_deadline::server::PROBLEM_BASE;
        assert_eq!(json["type"], format!("{base}{code}"));
        Some(code)
    }
}

async fn send(service: &InboundDeadline<Handler>, request: Request<()>) -> Got {
    let before = Instant::now();
    let answer = service.clone().oneshot(request).await.unwrap();
    let after = before.elapsed();
    let (parts, body) = answer.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    Got {
        status: parts.status,
        headers: parts.headers,
        body,
        after,
    }
}

/// How much time is left to the work that runs now.
fn left() -> Option<Duration> {
    CallContext::current_deadline().left(Instant::now().into_std())
}

/// An event about a request's end: its name, what was told, spent and left in ms, and whether it
/// is acted on.
type Told = (&'static str, Option<u128>, u128, u128, bool);

/// Collects what a layer tells.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<Told>>>);

impl Log {
    fn observer(&self) -> impl Fn(&Event<'_>) + Send + Sync + 'static {
        let log = self.clone();
        move |event| {
            let (name, it) = match event {
                Event::DeadlineReceived(it) => ("received", Some(it)),
                Event::DeadlineRefused(it) => ("refused", Some(it)),
                Event::DeadlineExpired(it) => ("expired", Some(it)),
                Event::DeadlineMet(it) => ("met", Some(it)),
                Event::DeadlineIgnored(_) => ("ignored", None),
                _ => return,
            };
            let told = |it: &Inbound<'_>| {
                let ms = |time: Duration| time.as_millis();
                (
                    name,
                    it.told.map(ms),
                    ms(it.elapsed),
                    ms(it.left),
                    it.enforced,
                )
            };
            log.0
                .lock()
                .unwrap()
                .push(it.map_or((name, None, 0, 0, false), told));
        }
    }

    fn take(&self) -> Vec<Told> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}
