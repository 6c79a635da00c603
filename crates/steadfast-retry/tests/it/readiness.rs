use std::io;
use std::time::Duration;

use steadfast_core::{Failure, Outcome};
use steadfast_kit::Readiness;
use tower::{Layer, Service, ServiceExt};

use crate::stack::*;
use steadfast_retry::RetryLayer;

/// O-27: the probe panics when it is called unready, and clones start unready.
#[tokio::test(start_paused = true)]
async fn each_attempt_gets_its_own_readiness_and_only_the_readied_instance_is_called() {
    let script = vec![
        status(503, ""),
        status(503, ""),
        status(503, ""),
        status(200, "done"),
    ];
    let (retry, probe) = stack(config().with_max_attempts(attempts(4)), script);
    let later = (0..4).map(|_| Readiness::Later);
    let _ = probe.clone().with_readiness(later);
    let response = run(&retry, get()).await.unwrap();
    assert_eq!(text(response).await, "done");
    assert_eq!(probe.calls(), 4);
    assert_eq!(probe.reserved(), 0);
}

#[tokio::test(start_paused = true)]
async fn nothing_keeps_inner_readiness_while_the_call_waits() {
    let (retry, probe) = stack(config(), vec![status(503, ""), status(200, "")]);
    let call = tokio::spawn(retry.clone().oneshot(get()));
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    assert_eq!(
        (probe.calls(), probe.reserved(), probe.in_flight()),
        (1, 0, 0)
    );
    assert!(call.await.unwrap().is_ok());
}

/// A limit of one below: while the first call waits, a second one gets through.
#[tokio::test(start_paused = true)]
async fn a_concurrency_limit_below_is_free_while_the_call_waits() {
    let probe = Inner::script(vec![
        answer(
            429,
            &[("retry-after", "5")],
            steadfast_kit::Chunks::of(["slow down"]),
        ),
        status(200, "other"),
        status(200, "first"),
    ]);
    let limited = tower::limit::ConcurrencyLimit::new(probe.clone(), 1);
    let retry = RetryLayer::new(config()).layer(limited);
    let first = tokio::spawn(retry.clone().oneshot(get()));
    tokio::time::sleep(Duration::from_secs(1)).await;
    let other = retry.oneshot(get()).await.unwrap();
    assert_eq!(text(other).await, "other");
    assert_eq!(text(first.await.unwrap().unwrap()).await, "first");
}

#[tokio::test(start_paused = true)]
async fn a_readiness_error_ends_the_call_with_that_error() {
    let (retry, probe) = stack(config(), vec![status(503, "A"), status(200, "")]);
    let broken = io::Error::from(io::ErrorKind::BrokenPipe);
    let _ = probe
        .clone()
        .with_readiness([Readiness::Now, Readiness::fail(broken)]);
    let error = run(&retry, get()).await.unwrap_err();
    let failure = Failure::find(&*error).unwrap();
    assert!(
        steadfast_core::chain(failure).any(|cause| cause.is::<io::Error>()),
        "{error:?}"
    );
    assert_eq!(failure.report().attempts, 1);
    assert_eq!(failure.report().outcome, Outcome::Unknown);
    assert_eq!(failure.last_head().unwrap().status, 503);
    assert_eq!(probe.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_readiness_error_before_the_first_attempt_is_the_inner_one() {
    let (mut retry, probe) = stack(config(), vec![]);
    let _ = probe.clone().with_readiness([Readiness::fail("down")]);
    let error = retry.ready().await.unwrap_err();
    assert_eq!(error.to_string(), "down");
}

#[tokio::test(start_paused = true)]
async fn a_service_that_never_gets_ready_again_ends_with_the_deadline() {
    let limit = Duration::from_secs(5);
    let (retry, probe) = stack(config().with_total_limit(limit), vec![status(503, "A")]);
    let _ = probe
        .clone()
        .with_readiness([Readiness::Now, Readiness::Never]);
    let started = tokio::time::Instant::now();
    let response = run(&retry, get()).await.unwrap();
    assert_eq!(started.elapsed(), limit);
    assert_eq!(
        text(response).await,
        "A",
        "the attempt that was not sent hides no answer"
    );
    assert_eq!(probe.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn works_over_a_buffer() {
    let probe = Inner::script(vec![status(503, ""), status(503, ""), status(200, "done")]);
    let buffer = tower::buffer::Buffer::new(probe, 1);
    let mut retry = RetryLayer::new(config()).layer(buffer);
    let response = retry.ready().await.unwrap().call(get()).await.unwrap();
    assert_eq!(text(response).await, "done");
}
