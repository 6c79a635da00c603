//! A breaker among the other layers, in both orders, on a paused clock.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt;
use steadfast::admission::breaker::{BreakerConfig, Window};
use steadfast::admission::{BreakerLayer, Scope};
use steadfast::backoff::Jitter;
use steadfast::budget::RateBudget;
use steadfast::deadline::{AttemptTimeoutLayer, BodyTimeoutLayer};
use steadfast::retry::{RetryConfig, RetryLayer};
use steadfast::{Backoff, BoxError, CircuitState, Failure, Reason, Rejected};
use steadfast_kit::{Chunks, Piece};
use tokio::time::Instant;
use tower::{ServiceBuilder, ServiceExt, service_fn};

const SECOND: Duration = Duration::from_secs(1);

fn count(n: u32) -> NonZeroU32 {
    NonZeroU32::new(n).unwrap()
}

/// Opens at half of at least four calls, for exactly 5 s.
fn breaker() -> BreakerLayer {
    let open = Backoff::default()
        .with_base(5 * SECOND)
        .with_jitter(Jitter::None);
    let config = BreakerConfig::default()
        .with_window(Window::default().with_minimum(count(4)).unwrap())
        .with_open(open)
        .with_scope(Scope::Layer);
    BreakerLayer::new(config)
}

/// Four attempts, a second apart.
fn retry() -> RetryConfig {
    let backoff = Backoff::default().with_base(SECOND).with_cap(SECOND);
    RetryConfig::new()
        .with_max_attempts(count(4))
        .with_backoff(backoff.with_jitter(Jitter::None))
        .with_budget(RateBudget::new(1_000, SECOND))
}

fn get() -> Request<Chunks> {
    Request::get("http://a.example/")
        .body(Chunks::new([]))
        .unwrap()
}

async fn fails() -> Result<Response<Chunks>, BoxError> {
    let mut answer = Response::new(Chunks::new([]));
    *answer.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    Ok(answer)
}

/// Inside retry the breaker sees attempts; outside it sees calls.
#[tokio::test(start_paused = true)]
async fn inside_retry_a_breaker_counts_attempts_and_outside_calls() {
    let inner = breaker();
    let stack = ServiceBuilder::new()
        .layer(RetryLayer::new(retry()))
        .layer(inner.clone())
        .service(service_fn(|_| fails()));
    stack.oneshot(get()).await.unwrap();
    assert_eq!(inner.handle().state(""), CircuitState::Open);

    let outer = breaker();
    let stack = ServiceBuilder::new()
        .layer(outer.clone())
        .layer(RetryLayer::new(retry()))
        .service(service_fn(|_| fails()));
    for _ in 0..3 {
        stack.clone().oneshot(get()).await.unwrap();
    }
    assert_eq!(
        outer.handle().state(""),
        CircuitState::Closed,
        "three calls of four attempts"
    );
    stack.oneshot(get()).await.unwrap();
    assert_eq!(outer.handle().state(""), CircuitState::Open);
}

/// O-33: the refusal is final, and costs neither time nor budget; the breaker counts nothing.
#[tokio::test(start_paused = true)]
async fn an_open_circuit_ends_a_call_at_once() {
    let layer = breaker();
    layer.handle().hold_open("");
    let calls = Arc::new(AtomicUsize::new(0));
    let seen = calls.clone();
    let stack = ServiceBuilder::new()
        .layer(RetryLayer::new(retry()))
        .layer(layer)
        .service(service_fn(move |_| {
            seen.fetch_add(1, Ordering::Relaxed);
            fails()
        }));
    let started = Instant::now();
    let error = stack.oneshot(get()).await.unwrap_err();
    assert_eq!(started.elapsed(), Duration::ZERO);
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    let report = *Failure::find(&*error).unwrap().report();
    assert_eq!(
        (report.attempts, report.reason),
        (0, Some(Reason::CircuitOpen))
    );
    assert!(Rejected::find(&*error).is_some(), "reachable by type");
}

/// The last attempt's answer comes back although the circuit opened under the call.
#[tokio::test(start_paused = true)]
async fn a_circuit_that_opens_in_the_middle_leaves_the_peers_last_word() {
    let layer = breaker();
    let calls = Arc::new(AtomicUsize::new(0));
    let seen = calls.clone();
    let stack = ServiceBuilder::new()
        .layer(RetryLayer::new(retry().with_max_attempts(count(8))))
        .layer(layer)
        .service(service_fn(move |_| {
            seen.fetch_add(1, Ordering::Relaxed);
            fails()
        }));
    let answer = stack.oneshot(get()).await.unwrap();
    assert_eq!(answer.status(), 503);
    assert_eq!(calls.load(Ordering::Relaxed), 4);
    let report = answer.extensions().get::<steadfast::Report>().unwrap();
    assert_eq!(
        (report.attempts, report.reason),
        (4, Some(Reason::CircuitOpen))
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_may_wait_once_for_an_open_circuit() {
    use steadfast::decide::Admission;
    let layer = breaker();
    let calls = Arc::new(AtomicUsize::new(0));
    let seen = calls.clone();
    let stack = ServiceBuilder::new()
        .layer(RetryLayer::new(
            retry()
                .with_admission(Admission::WaitOnce)
                .with_max_attempts(count(6)),
        ))
        .layer(layer.clone())
        .service(service_fn(move |_| {
            let failing = seen.fetch_add(1, Ordering::Relaxed) < 4;
            async move {
                match failing {
                    true => fails().await,
                    false => Ok(Response::new(Chunks::new([]))),
                }
            }
        }));
    let started = Instant::now();
    let answer = stack.oneshot(get()).await.unwrap();
    assert_eq!(answer.status(), 200);
    drop(answer);
    // Three waits between four attempts, then one to the refusal and one to its end.
    let waited = started.elapsed();
    assert!(waited >= 8 * SECOND && waited < 11 * SECOND, "{waited:?}");
    assert_eq!(layer.handle().state(""), CircuitState::Closed);
}

/// The order decides whose patience ended: outside the breaker a timeout is its caller's.
#[tokio::test(start_paused = true)]
async fn a_peer_that_hangs_opens_the_circuit_only_if_the_timeout_stands_inside() {
    let hangs = service_fn(|_: Request<Chunks>| {
        std::future::pending::<Result<Response<Chunks>, BoxError>>()
    });
    let inside = breaker();
    let stack = ServiceBuilder::new()
        .layer(inside.clone())
        .layer(AttemptTimeoutLayer::new(SECOND))
        .service(hangs);
    for _ in 0..4 {
        stack.clone().oneshot(get()).await.unwrap_err();
    }
    assert_eq!(inside.handle().state(""), CircuitState::Open);

    let below = breaker();
    let stack = ServiceBuilder::new()
        .layer(AttemptTimeoutLayer::new(SECOND))
        .layer(below.clone())
        .service(hangs);
    for _ in 0..50 {
        stack.clone().oneshot(get()).await.unwrap_err();
    }
    assert_eq!(below.handle().state(""), CircuitState::Closed);
}

/// 200 and then silence: an error of the body where the idle limit stands inside the breaker.
#[tokio::test(start_paused = true)]
async fn a_body_that_falls_silent_is_seen_only_if_the_idle_limit_stands_inside() {
    let silent = service_fn(|_: Request<Chunks>| async {
        let pieces = [Piece::Data(Bytes::from_static(b"half")), Piece::Never];
        Ok::<_, BoxError>(Response::new(Chunks::new(pieces)))
    });
    let inside = breaker();
    let stack = ServiceBuilder::new()
        .layer(inside.clone())
        .layer(BodyTimeoutLayer::default())
        .service(silent);
    // Together, since one after the other they would leave the window before they are four.
    let call = || async {
        let answer = stack.clone().oneshot(get()).await.unwrap();
        answer.into_body().collect().await.unwrap_err();
    };
    tokio::join!(call(), call(), call(), call());
    assert_eq!(inside.handle().state(""), CircuitState::Open);

    let below = breaker();
    let stack = ServiceBuilder::new()
        .layer(BodyTimeoutLayer::default())
        .layer(below.clone())
        .service(silent);
    for _ in 0..50 {
        let answer = stack.clone().oneshot(get()).await.unwrap();
        answer.into_body().collect().await.unwrap_err();
    }
    assert_eq!(below.handle().state(""), CircuitState::Closed);
}
