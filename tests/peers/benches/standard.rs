//! What `client::Standard` costs, and what each of its layers adds, in one run; see `README.md`.
//!
//! `-- --only NAME CALLS` makes so many calls of one row and prints nothing, for tools that count
//! instructions.
#![allow(
    missing_docs,
    clippy::disallowed_methods,
    reason = "a bench is a program, and measures real time"
)]

use std::future::{Future, Ready, ready};
use std::hint::black_box;
use std::io;
use std::pin::pin;
use std::sync::Barrier;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

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

fn main() {
    // A runtime for timers; nothing here waits on one.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime needs threads and timers, which every platform here has");
    let _entered = runtime.enter();
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let mut rows = rows();
    if let Some(at) = arguments.iter().position(|argument| argument == "--only") {
        let calls = arguments[at + 2].parse().expect("a number of calls");
        let row = rows.iter_mut().find(|row| row.name == arguments[at + 1]);
        return (row.expect("a row of the table").run)(calls);
    }
    alone(&mut rows);
    println!();
    shared();
}

struct Row {
    name: &'static str,
    run: Box<dyn FnMut(u32)>,
}

/// Each row is the one before with one layer more around it.
fn rows() -> Vec<Row> {
    let told = || PropagateLayer::default().layer(AtOnce);
    let ended = || BodyTimeoutLayer::default().layer(told());
    let timed = || AttemptTimeoutLayer::default().layer(ended());
    let judged = || BreakerLayer::default().layer(timed());
    let placed = || BulkheadLayer::default().layer(judged());
    let cooled = || CooldownLayer::default().layer(placed());
    let repeated = || RetryLayer::default().layer(cooled());
    let keyed = || KeyLayer::new(KeyConfig::new(Routes::new())).layer(repeated());
    vec![
        row("bare", AtOnce),
        row("+ propagation", told()),
        row("+ body timeout", ended()),
        row("+ attempt timeout", timed()),
        row("+ breaker", judged()),
        row("+ bulkhead", placed()),
        row("+ cooldown", cooled()),
        row("+ retry, one budget", repeated()),
        row("+ key", keyed()),
        row("+ call limit", CallLimitLayer::default().layer(keyed())),
        row("Standard", StandardLayer::default().layer(AtOnce)),
    ]
}

fn row<S: Service<Sent> + 'static>(name: &'static str, mut service: S) -> Row {
    let run = move |calls| call(&mut service, calls);
    Row {
        name,
        run: Box::new(run),
    }
}

/// Ready, call, poll to the end, as an executor would with nothing in its way.
fn call<S: Service<Sent>>(service: &mut S, calls: u32) {
    let mut cx = Context::from_waker(Waker::noop());
    for _ in 0..calls {
        assert!(service.poll_ready(&mut cx).is_ready());
        let mut call = pin!(service.call(black_box(request())));
        assert!(black_box(call.as_mut().poll(&mut cx)).is_ready());
    }
}

fn request() -> Sent {
    let mut request = Request::new(Full::default());
    *request.uri_mut() = http::Uri::from_static("http://payments.example/v1/charges");
    request
}

fn alone(rows: &mut [Row]) {
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
    println!("| stack | x bare | extra ns |");
    println!("|---|---|---|");
    for (this, row) in rows.iter().enumerate() {
        let median = |figure: &dyn Fn(&[f64]) -> f64| {
            let mut all: Vec<_> = rounds.iter().map(|round| figure(round)).collect();
            all.sort_by(f64::total_cmp);
            all[all.len() / 2]
        };
        let times = median(&|round| round[this] / round[0]);
        let extra = median(&|round| round[this] - round[0]);
        println!("| {} | {times:.1} | {extra:.0} |", row.name);
    }
}

/// Two threads that share one layer's state, each with a service of its own, against one alone.
fn shared() {
    const CALLS: u32 = 20_000;
    let layer = StandardLayer::default();
    let each = |threads: usize| {
        let barrier = Barrier::new(threads);
        let run = || {
            let mut service = layer.layer(AtOnce);
            call(&mut service, 1_000);
            barrier.wait();
            let start = Instant::now();
            call(&mut service, CALLS);
            start.elapsed().as_nanos() as f64 / f64::from(CALLS)
        };
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(run)).collect();
            let mine = run();
            let others = others.into_iter().map(|it| it.join().expect("no panic"));
            others.fold(mine, f64::max)
        })
    };
    let mut ratios: Vec<_> = (0..41).map(|_| each(2) / each(1)).collect();
    ratios.sort_by(f64::total_cmp);
    println!("| two threads, one destination, against one alone | median |");
    println!("|---|---|");
    println!("| Standard | {:.2} |", ratios[ratios.len() / 2]);
}

/// Answers at once; allocates nothing.
#[derive(Clone)]
struct AtOnce;

impl<B> Service<Request<B>> for AtOnce {
    type Response = Answer;
    type Error = io::Error;
    type Future = Ready<io::Result<Answer>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        black_box(&request);
        ready(Ok(Response::default()))
    }
}
