//! What a call's deadline means to the attempts and waits inside it, on a paused clock.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode, header};
use http_body_util::Full;
use steadfast::budget::RatioBudget;
use steadfast::deadline::{
    AttemptTimeoutLayer, BodyTimeoutLayer, CallLimitLayer, PropagateConfig, PropagateLayer,
    TimedBody,
};
use steadfast::grpc::{self, Code, RetryableCodes};
use steadfast::retry::{ReplayBody, ResponseBody, RetryConfig, RetryLayer};
use steadfast::{
    Backoff, BoxError, CallState, Cut, Elapsed, Failure, Jitter, Ratio, Reason, Safety,
};
use steadfast_kit::{Chunks, Probe, Step};
use tokio::time::Instant;
use tower::{Service, ServiceBuilder, ServiceExt};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const ENVOY: &str = "x-envoy-expected-rq-timeout-ms";

type Inner = Probe<Request<ReplayBody<Full<Bytes>>>, Response<Chunks>>;
type Answered = Result<Response<ResponseBody<TimedBody<Chunks>>>, BoxError>;

/// The usual order, around what the probe plays.
fn stack(
    limit: Duration,
    attempt: Duration,
    retry: RetryConfig,
    tell: PropagateConfig,
    inner: &Inner,
) -> impl Service<
    Request<Full<Bytes>>,
    Response = Response<ResponseBody<TimedBody<Chunks>>>,
    Error = BoxError,
> {
    ServiceBuilder::new()
        .layer(CallLimitLayer::new(limit))
        .layer(RetryLayer::new(retry))
        .layer(AttemptTimeoutLayer::new(attempt))
        .layer(BodyTimeoutLayer::default())
        .layer(PropagateLayer::new(tell))
        .service(inner.clone())
}

/// The same wait before every attempt, and no other limit than the call's.
fn waiting(wait: Duration) -> RetryConfig {
    let backoff = Backoff::default()
        .with_base(wait)
        .with_throttled_base(wait)
        .with_cap(wait)
        .with_jitter(Jitter::None);
    let budget = RatioBudget::new(Ratio::ONE).with_minimum_per_second(Ratio::ONE);
    RetryConfig::new()
        .with_backoff(backoff)
        .with_budget(budget)
        .with_total_limit(Duration::MAX)
}

fn status(status: u16) -> Response<Chunks> {
    let mut answer = Response::new(Chunks::of([""; 0]));
    *answer.status_mut() = StatusCode::from_u16(status).unwrap();
    answer
}

fn get() -> Request<Full<Bytes>> {
    Request::get("http://a.example/")
        .body(Full::default())
        .unwrap()
}

fn told(inner: &Inner, name: &str) -> Vec<String> {
    let lines = |head: http::request::Parts| {
        let lines = head.headers.get_all(name).iter();
        let lines = lines.map(|line| line.to_str().unwrap().to_owned());
        lines.collect::<Vec<_>>().join(" and ")
    };
    inner.heads().into_iter().map(lines).collect()
}

/// O-09.
#[tokio::test(start_paused = true)]
async fn a_call_never_outlasts_its_limit_wherever_its_first_failure_falls() {
    for fails_at in (100..10_000)
        .step_by(700)
        .chain([3_599, 3_600, 3_601, 9_900, 9_999])
    {
        let inner: Inner = Probe::script([
            Step::answer(status(503)).after(fails_at * MS),
            Step::answer(status(200)).after(15 * SECOND),
        ]);
        let retry = waiting(Duration::from_millis(6_400));
        let tell = PropagateConfig::default();
        let start = Instant::now();
        let answered = stack(10 * SECOND, 15 * SECOND, retry, tell, &inner)
            .oneshot(get())
            .await;
        if fails_at + 6_400 >= 10_000 {
            // No attempt could begin: the answer that there is comes at once.
            assert_eq!(answered.unwrap().status(), 503, "{fails_at}");
            assert_eq!(start.elapsed(), fails_at * MS);
            assert_eq!(inner.calls(), 1);
        } else {
            assert_eq!(start.elapsed(), 10 * SECOND, "{fails_at}");
            let error = answered.unwrap_err();
            let report = *Failure::find(&*error).unwrap().report();
            assert_eq!(
                (report.attempts, report.reason),
                (2, Some(Reason::Deadline))
            );
            assert_eq!(Elapsed::find(&*error).unwrap().cut(), Cut::Deadline);
            assert_eq!((inner.calls(), inner.in_flight()), (2, 0));
        }
    }
}

/// O-10, first half.
#[tokio::test(start_paused = true)]
async fn three_hanging_attempts_of_100_ms_are_told_100_100_and_50_of_250() {
    let inner: Inner = Probe::script((0..3).map(|_| Step::never()));
    let mut request = get();
    request.headers_mut().insert(ENVOY, 9_999.into());
    let tell = PropagateConfig::default();
    let start = Instant::now();
    let stack = stack(250 * MS, 100 * MS, waiting(Duration::ZERO), tell, &inner);
    stack.oneshot(request).await.unwrap_err();
    assert_eq!(start.elapsed(), 250 * MS);
    assert_eq!(told(&inner, ENVOY), ["100", "100", "50"]);
}

/// O-10: waits are time too.
#[tokio::test(start_paused = true)]
async fn what_an_attempt_is_told_is_less_the_waits_before_it() {
    let inner: Inner = Probe::script((0..3).map(|_| Step::never()));
    let tell = PropagateConfig::default();
    let stack = stack(250 * MS, 100 * MS, waiting(20 * MS), tell, &inner);
    stack.oneshot(get()).await.unwrap_err();
    assert_eq!(told(&inner, ENVOY), ["100", "100", "10"]);
}

/// O-10, second half.
#[tokio::test(start_paused = true)]
async fn a_grpc_call_of_40_s_is_told_40_then_30_then_20() {
    let kind = "application/grpc";
    let exhausted = || {
        let mut answer = status(200);
        let code = u16::from(Code::ResourceExhausted.number());
        answer.headers_mut().insert(grpc::STATUS, code.into());
        answer
            .headers_mut()
            .insert(header::CONTENT_TYPE, kind.parse().unwrap());
        Step::answer(answer).after(10 * SECOND)
    };
    let inner: Inner = Probe::script([exhausted(), exhausted(), Step::answer(status(200))]);
    let codes = RetryableCodes::default().with(Code::ResourceExhausted);
    let retry = waiting(Duration::ZERO).with_retryable_codes(codes);
    let mut request = Request::post("http://a.example/ledger.Ledger/Post")
        .header(header::CONTENT_TYPE, kind)
        .header("grpc-timeout", "99999999H")
        .body(Full::default())
        .unwrap();
    CallState::edit(request.extensions_mut(), |state| {
        state.set_safety(Safety::Idempotent)
    });
    let tell = PropagateConfig::default().with_attempt_header(grpc::PREVIOUS_ATTEMPTS);
    let stack = stack(40 * SECOND, Duration::MAX, retry, tell, &inner);
    let answer = stack.oneshot(request).await.unwrap();
    assert!(!answer.headers().contains_key(grpc::STATUS));
    assert_eq!(
        told(&inner, "grpc-timeout"),
        ["40000000u", "30000000u", "20000000u"]
    );
    assert_eq!(told(&inner, "grpc-previous-rpc-attempts"), ["", "1", "2"]);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_could_not_be_told_its_time_is_not_sent_and_the_last_answer_stands() {
    for (fails_at, sent) in [(199, 2), (200, 1), (210, 1)] {
        let inner: Inner = Probe::script([
            Step::answer(status(503)).after(fails_at * MS),
            Step::answer(status(200)),
        ]);
        let tell = PropagateConfig::default().with_margin(50 * MS);
        let stack = stack(
            250 * MS,
            Duration::MAX,
            waiting(Duration::ZERO),
            tell,
            &inner,
        );
        let answered: Answered = stack.oneshot(get()).await;
        assert_eq!(inner.calls(), sent, "{fails_at}");
        assert_eq!(
            answered.unwrap().status(),
            if sent == 2 { 200 } else { 503 }
        );
    }
}

/// O-08.
#[tokio::test(start_paused = true)]
async fn a_caller_who_leaves_during_the_wait_ends_the_call() {
    let mut busy = status(429);
    busy.headers_mut().insert(header::RETRY_AFTER, 3.into());
    let inner: Inner = Probe::script([Step::answer(busy), Step::answer(status(200))]);
    let tell = PropagateConfig::default();
    let call = stack(30 * SECOND, SECOND, waiting(SECOND), tell, &inner).oneshot(get());
    assert!(tokio::time::timeout(100 * MS, call).await.is_err());
    tokio::time::sleep(10 * SECOND).await;
    assert_eq!(
        (inner.calls(), inner.in_flight(), inner.reserved()),
        (1, 0, 0)
    );
}

// On the real clock: a layer that read it anew would find 999.9 ms left, and tell 999.
#[tokio::test]
async fn one_reading_of_the_clock_is_told_through_the_retry_layer() {
    let inner: Inner = Probe::script([Step::answer(status(200))]);
    let tell = PropagateConfig::default();
    let stack = stack(SECOND, 10 * SECOND, waiting(SECOND), tell, &inner);
    stack.oneshot(get()).await.unwrap();
    assert_eq!(told(&inner, ENVOY), ["1000"]);
}
