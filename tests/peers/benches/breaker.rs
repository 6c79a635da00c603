//! What a closed breaker costs beside its peers', and a stack of three, in one run; see `README.md`.
//!
//! Every row runs once a round, in an order that changes; each figure is a median over rounds of
//! the ratio within one round, so that a machine whose speed drifts does not matter.
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
use std::num::NonZeroU32;
use std::pin::pin;
use std::sync::Barrier;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use recloser::{AsyncRecloser, Recloser};
use steadfast::admission::Scope;
use steadfast::admission::breaker::{BreakerConfig, BreakerLayer, Window};
use steadfast::deadline::AttemptTimeoutLayer;
use steadfast::retry::RetryLayer;
use tower::{Layer, Service, ServiceBuilder, ServiceExt};
use tower_resilience_circuitbreaker::{CircuitBreakerLayer, SlidingWindowType};
use tower_resilience_retry::{RetryBudgetBuilder, RetryLayer as PeersRetryLayer};
use tower_resilience_timelimiter::TimeLimiterLayer;

const ROUNDS: usize = 201;
const WARM_UP: usize = 20;
const CALLS: u32 = 2_000;

const BARE: &str = "bare";
const OURS: &str = "ours, one circuit";
const OURS_FULL: &str = "ours, window of 100,000 calls held";
const OURS_CALLS: &str = "ours, last 100 calls";
const OURS_KEYED: &str = "ours, by destination";
const PEER: &str = "tower-resilience, count";
const PEER_TIME: &str = "tower-resilience, time window";
const FAILSAFE: &str = "failsafe";
const RECLOSER: &str = "recloser";
const STACK: &str = "ours: retry, breaker, attempt timeout";
const PEERS_STACK: &str = "tower-resilience: retry, breaker, limiter";

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
    if let Some(at) = arguments.iter().position(|argument| argument == "--only") {
        let calls = arguments[at + 2].parse().expect("a number of calls");
        let mut rows = rows();
        let row = rows.iter_mut().find(|row| row.name == arguments[at + 1]);
        return (row.expect("a row of the table").run)(calls);
    }
    alone();
    println!();
    shared();
}

/// The errors of the peer's layers as its retry wants them.
fn refused<E>(_: E) -> io::Error {
    io::Error::other("refused")
}

struct Row {
    name: &'static str,
    run: Box<dyn FnMut(u32)>,
}

fn breaker(config: BreakerConfig) -> BreakerLayer {
    BreakerLayer::new(config.with_scope(Scope::Layer))
}

fn rows() -> Vec<Row> {
    let hundred = NonZeroU32::new(100).expect("not zero");
    let calls = Window::calls(hundred).expect("a hundred is allowed");
    let minute = Duration::from_secs(60);
    let full = breaker(BreakerConfig::default());
    let mut fill = row("", full.layer(AtOnce)).run;
    fill(100_000);
    let peer = || CircuitBreakerLayer::builder().failure_rate_threshold(0.5);
    let peers_breaker = || peer().build().expect("the config is right");
    let peer_time = peer()
        .sliding_window_type(SlidingWindowType::TimeBased)
        .sliding_window_duration(Duration::from_secs(1));
    let budget = RetryBudgetBuilder::new().token_bucket().build();
    let peers_retry = PeersRetryLayer::<Sent, Answer, io::Error>::builder()
        .max_attempts(3)
        .exponential_backoff(Duration::from_millis(50))
        .budget(budget.expect("the config is right"));
    let limiter = TimeLimiterLayer::builder().timeout_duration(minute).build();
    let peers_stack = peers_breaker().layer_fn(limiter.layer(AtOnce));
    let failsafe = failsafe::Config::new().build();
    let recloser: AsyncRecloser = Recloser::custom().build().into();
    let stack = ServiceBuilder::new()
        .layer(RetryLayer::default())
        .layer(breaker(BreakerConfig::default()))
        .layer(AttemptTimeoutLayer::new(minute))
        .service(AtOnce);
    vec![
        row(BARE, AtOnce),
        row(OURS, breaker(BreakerConfig::default()).layer(AtOnce)),
        row(OURS_FULL, full.layer(AtOnce)),
        row(
            OURS_CALLS,
            breaker(BreakerConfig::default().with_window(calls)).layer(AtOnce),
        ),
        row(OURS_KEYED, BreakerLayer::default().layer(AtOnce)),
        row(PEER, peers_breaker().layer(AtOnce)),
        row(
            PEER_TIME,
            peer_time
                .build()
                .expect("the config is right")
                .layer(AtOnce),
        ),
        row(FAILSAFE, Failsafe(failsafe)),
        row(RECLOSER, Reclosed(recloser)),
        row(STACK, stack),
        row(
            PEERS_STACK,
            peers_retry
                .build()
                .layer(ServiceExt::<Sent>::map_err(peers_stack, refused)),
        ),
    ]
}

fn row<S>(name: &'static str, mut service: S) -> Row
where
    S: Service<Sent> + 'static,
{
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
    *request.uri_mut() = http::Uri::from_static("/v1/charges");
    request
}

fn alone() {
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
    let allocations: Vec<u64> = rows
        .iter_mut()
        .map(|row| allocation_counter::measure(|| (row.run)(1)).count_total)
        .collect();
    let at = |name| rows.iter().position(|row| row.name == name).expect("a row");
    let median = |figure: &dyn Fn(&[f64]) -> f64| {
        let mut all: Vec<_> = rounds.iter().map(|round| figure(round)).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    let bare = at(BARE);
    println!("| call | x bare | extra ns | allocations |");
    println!("|---|---|---|---|");
    for (this, row) in rows.iter().enumerate() {
        let times = median(&|round| round[this] / round[bare]);
        let extra = median(&|round| round[this] - round[bare]);
        println!(
            "| {} | {times:.2} | {extra:.0} | {} |",
            row.name, allocations[this]
        );
    }
    let extra =
        |of, to| median(&|round| (round[at(of)] - round[bare]) / (round[at(to)] - round[bare]));
    println!();
    println!("| figure | median | target |");
    println!("|---|---|---|");
    println!(
        "| breaker, extra ns | {:.0} | ≤ 130 |",
        median(&|round| round[at(OURS)] - round[bare])
    );
    println!(
        "| breaker that holds 100,000 calls, extra ns | {:.0} | ≤ 130 |",
        median(&|round| round[at(OURS_FULL)] - round[bare])
    );
    println!(
        "| stack, extra: ours / tower-resilience | {:.2} | ≤ 0.25 |",
        extra(STACK, PEERS_STACK)
    );
}

/// Two threads that share one instance, each with a clone of its own, against one thread alone.
fn shared() {
    println!("| two threads sharing, against one alone | median |");
    println!("|---|---|");
    together(BARE, AtOnce);
    together(OURS, breaker(BreakerConfig::default()).layer(AtOnce));
    together(OURS_KEYED, BreakerLayer::default().layer(AtOnce));
    let recloser: AsyncRecloser = Recloser::custom().build().into();
    together(RECLOSER, Reclosed(recloser));
    together(FAILSAFE, Failsafe(failsafe::Config::new().build()));
}

fn together<S>(name: &str, service: S)
where
    S: Service<Sent> + Clone + Send,
{
    const CALLS: u32 = 20_000;
    let each = |threads: usize| {
        let barrier = Barrier::new(threads);
        let run = |mut service: S| {
            call(&mut service, 1_000);
            barrier.wait();
            let start = Instant::now();
            call(&mut service, CALLS);
            start.elapsed().as_nanos() as f64 / f64::from(CALLS)
        };
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads)
                .map(|_| {
                    let service = service.clone();
                    let run = &run;
                    scope.spawn(move || run(service))
                })
                .collect();
            let mine = run(service.clone());
            let others = others.into_iter().map(|it| it.join().expect("no panic"));
            others.fold(mine, f64::max)
        })
    };
    let mut ratios: Vec<_> = (0..41).map(|_| each(2) / each(1)).collect();
    ratios.sort_by(f64::total_cmp);
    println!("| {name} | {:.2} |", ratios[ratios.len() / 2]);
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

#[derive(Clone)]
struct Reclosed(AsyncRecloser);

impl Service<Sent> for Reclosed {
    type Response = Answer;
    type Error = recloser::Error<io::Error>;
    type Future = recloser::RecloserFuture<Ready<io::Result<Answer>>, recloser::AnyError>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Sent) -> Self::Future {
        self.0.call(AtOnce.call(request))
    }
}

/// Whatever failsafe's default policy is.
#[derive(Clone)]
struct Failsafe<C>(C);

impl<C> Service<Sent> for Failsafe<C>
where
    C: failsafe::futures::CircuitBreaker + Clone + 'static,
{
    type Response = Answer;
    type Error = failsafe::Error<io::Error>;
    type Future = failsafe::futures::ResponseFuture<
        Ready<io::Result<Answer>>,
        C::FailurePolicy,
        C::Instrument,
        failsafe::Any,
    >;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Sent) -> Self::Future {
        self.0.call(AtOnce.call(request))
    }
}
