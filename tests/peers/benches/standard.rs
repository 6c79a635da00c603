//! What `client::Standard` costs, layer by layer, in one run; see `README.md`.
#![allow(
    missing_docs,
    clippy::disallowed_methods,
    reason = "a bench is a program, and measures real time"
)]

use std::future::{Ready, ready};
use std::hint::black_box;
use std::io;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use steadfast::admission::{BreakerLayer, BulkheadLayer, CooldownLayer};
use steadfast::client::StandardLayer;
use steadfast::deadline::{AttemptTimeoutLayer, BodyTimeoutLayer, CallLimitLayer, PropagateLayer};
use steadfast::idempotency::client::{KeyConfig, KeyLayer, Routes};
use steadfast::retry::RetryLayer;
use tower::{Layer, Service};

const ROUNDS: usize = 201;
const WARM_UP: usize = 20;
const CALLS: u32 = 1_000;

type Answer = Response<Full<Bytes>>;
type Sent = Request<Full<Bytes>>;

struct Row {
    name: &'static str,
    run: Box<dyn FnMut(u32)>,
}

fn row<S: Service<Sent> + 'static>(name: &'static str, mut service: S) -> Row {
    let run = move |calls| {
        let mut cx = Context::from_waker(Waker::noop());
        for _ in 0..calls {
            assert!(service.poll_ready(&mut cx).is_ready());
            let mut call = pin!(service.call(black_box(request())));
            assert!(black_box(call.as_mut().poll(&mut cx)).is_ready());
        }
    };
    Row {
        name,
        run: Box::new(run),
    }
}

use std::future::Future;

fn request() -> Sent {
    let mut request = Request::new(Full::default());
    *request.uri_mut() = http::Uri::from_static("http://payments.example/v1/charges");
    request
}

#[derive(Clone)]
struct AtOnce;

impl<B> Service<Request<B>> for AtOnce {
    type Response = Answer;
    type Error = io::Error;
    type Future = Ready<Result<Answer, io::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        black_box(request);
        ready(Ok(Response::new(Full::default())))
    }
}

fn rows() -> Vec<Row> {
    let p = || PropagateLayer::default().layer(AtOnce);
    let b = || BodyTimeoutLayer::default().layer(p());
    let a = || AttemptTimeoutLayer::default().layer(b());
    let br = || BreakerLayer::default().layer(a());
    let bu = || BulkheadLayer::default().layer(br());
    let co = || CooldownLayer::default().layer(bu());
    let re = || RetryLayer::default().layer(co());
    let ke = || KeyLayer::new(KeyConfig::new(Routes::new())).layer(re());
    vec![
        row("bare", AtOnce),
        row("propagate", p()),
        row("body timeout", b()),
        row("attempt timeout", a()),
        row("breaker", br()),
        row("bulkhead", bu()),
        row("cooldown", co()),
        row("retry", re()),
        row("key", ke()),
        row("call limit", CallLimitLayer::default().layer(ke())),
        row("Standard", StandardLayer::default().layer(AtOnce)),
    ]
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime needs threads and timers, which every platform here has");
    let _entered = runtime.enter();
    let _ = Duration::ZERO;
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    if let Some(at) = arguments.iter().position(|argument| argument == "--only") {
        let calls = arguments[at + 2].parse().expect("a number of calls");
        let mut rows = rows();
        let row = rows.iter_mut().find(|row| row.name == arguments[at + 1]);
        return (row.expect("a row of the table").run)(calls);
    }
    let mut rows = rows();
    let mut rounds = Vec::new();
    for round in 0..WARM_UP + ROUNDS {
        let mut times = vec![0.0; rows.len()];
        for step in 0..rows.len() {
            let at = (round * 7 + step) % rows.len();
            let start = Instant::now();
            (rows[at].run)(CALLS);
            times[at] = start.elapsed().as_nanos() as f64 / f64::from(CALLS);
        }
        if round >= WARM_UP {
            rounds.push(times);
        }
    }
    for (this, row) in rows.iter().enumerate() {
        let mut all: Vec<f64> = rounds.iter().map(|round| round[this] - round[0]).collect();
        all.sort_by(f64::total_cmp);
        println!("{:20} {:8.0} ns", row.name, all[all.len() / 2]);
    }
}
