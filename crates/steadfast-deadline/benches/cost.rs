//! What a call that is answered at once costs beside tower's own timeout, in one run; see
//! `README.md` next door.
//!
//! Every row runs once a round, the order turning by one; each figure is a median over rounds of
//! the ratio within one round, so that a machine whose speed drifts does not matter.
//!
//! `-- --only NAME CALLS` makes so many calls of one row and prints nothing, for tools that count
//! instructions.
#![allow(
    missing_docs,
    clippy::disallowed_methods,
    reason = "a bench is a program, and measures real time"
)]

use std::convert::Infallible;
use std::future::{Future, Ready, ready};
use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use http::{Request, Response};
use steadfast_core::{CallState, Deadline};
use steadfast_deadline::{AttemptTimeoutLayer, BodyTimeoutLayer, CallLimitLayer, PropagateLayer};
use tower::timeout::TimeoutLayer;
use tower::{Layer, Service, ServiceBuilder};

const ROUNDS: usize = 401;
const WARM_UP: usize = 40;
const CALLS: u32 = 2_000;

const BARE: &str = "bare";
const TOWER: &str = "tower-timeout";
const ATTEMPT: &str = "attempt";
const ATTEMPT_DUE: &str = "attempt-due";
const BARE_DUE: &str = "bare-due";
const CALL: &str = "call";
const BODY: &str = "body";
const TELL: &str = "propagate";
const TELL_DUE: &str = "propagate-due";
const ALL: &str = "all-four";

fn main() {
    // A runtime for timers; nothing here waits on one.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime needs threads and timers, which every platform here has");
    let _entered = runtime.enter();
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    match arguments.iter().position(|argument| argument == "--only") {
        Some(at) => {
            let calls = arguments[at + 2].parse().expect("a number of calls");
            let mut rows = rows();
            let row = rows.iter_mut().find(|row| row.name == arguments[at + 1]);
            (row.expect("a row of the table").run)(calls);
        }
        None => table(),
    }
}

struct Row {
    name: &'static str,
    run: Box<dyn FnMut(u32)>,
}

fn rows() -> Vec<Row> {
    let minute = Duration::from_secs(60);
    let attempt = AttemptTimeoutLayer::new(minute);
    let call = CallLimitLayer::new(minute);
    let body = BodyTimeoutLayer::default();
    let tell = PropagateLayer::default();
    let all = ServiceBuilder::new()
        .layer(call)
        .layer(attempt)
        .layer(body)
        .layer(tell.clone())
        .service(AtOnce);
    vec![
        row(BARE, AtOnce, plain),
        row(TOWER, TimeoutLayer::new(minute).layer(AtOnce), plain),
        row(ATTEMPT, attempt.layer(AtOnce), plain),
        row(BARE_DUE, AtOnce, due),
        row(ATTEMPT_DUE, attempt.layer(AtOnce), due),
        row(CALL, call.layer(AtOnce), plain),
        row(BODY, body.layer(AtOnce), plain),
        row(TELL, tell.layer(AtOnce), plain),
        row(TELL_DUE, tell.layer(AtOnce), due),
        row(ALL, all, plain),
    ]
}

fn row<S>(name: &'static str, mut service: S, request: fn() -> Request<()>) -> Row
where
    S: Service<Request<()>> + 'static,
{
    let run = move |calls| {
        let mut cx = Context::from_waker(Waker::noop());
        for _ in 0..calls {
            let ready = service.poll_ready(&mut cx);
            assert!(ready.is_ready());
            let call = pin!(service.call(black_box(request())));
            assert!(black_box(call.poll(&mut cx)).is_ready());
        }
    };
    Row {
        name,
        run: Box::new(run),
    }
}

fn plain() -> Request<()> {
    Request::new(())
}

/// A request that carries a deadline already, far away.
fn due() -> Request<()> {
    let mut request = Request::new(());
    let deadline = Deadline::at(Instant::now() + Duration::from_secs(60));
    CallState::edit(request.extensions_mut(), |state| {
        state.tighten_deadline(deadline)
    });
    request
}

fn table() {
    let mut rows = rows();
    let mut rounds = Vec::new();
    for round in 0..WARM_UP + ROUNDS {
        let mut times = vec![0.0; rows.len()];
        for step in 0..rows.len() {
            let at = (round + step) % rows.len();
            let start = Instant::now();
            (rows[at].run)(CALLS);
            times[at] = start.elapsed().as_nanos() as f64 / f64::from(CALLS);
        }
        if round >= WARM_UP {
            rounds.push(times);
        }
    }
    let at = |name| rows.iter().position(|row| row.name == name).expect("a row");
    let median = |figure: &dyn Fn(&[f64]) -> f64| {
        let mut all: Vec<_> = rounds.iter().map(|round| figure(round)).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    let (bare, bare_due, tower) = (at(BARE), at(BARE_DUE), at(TOWER));
    println!("| call | x bare | extra time, x that of tower's timeout |");
    println!("|---|---|---|");
    for (name, base) in [
        (TOWER, bare),
        (ATTEMPT, bare),
        (ATTEMPT_DUE, bare_due),
        (CALL, bare),
        (BODY, bare),
        (TELL, bare),
        (TELL_DUE, bare_due),
        (ALL, bare),
    ] {
        let row = at(name);
        let times = median(&|round| round[row] / round[base]);
        let extra = median(&|round| (round[row] - round[base]) / (round[tower] - round[bare]));
        println!("| {name} | {times:.2} | {extra:.2} |");
    }
}

/// Answers at once and allocates nothing.
#[derive(Clone, Copy)]
struct AtOnce;

impl Service<Request<()>> for AtOnce {
    type Response = Response<String>;
    type Error = Infallible;
    type Future = Ready<Result<Response<String>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<()>) -> Self::Future {
        black_box(&request);
        ready(Ok(Response::new(String::new())))
    }
}
