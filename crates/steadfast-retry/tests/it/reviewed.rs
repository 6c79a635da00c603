//! Faults that a reader found before a user did, each by its behaviour.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Full};
use steadfast_core::budget::{Ask, Budget, RateBudget, RefundBudget, ThrottleBudget};
use steadfast_core::decide::Admission;
use steadfast_core::{
    CallKey, CallState, Deadline, Outcome, Random, Reason, Rejected, Safety, Verdict,
};
use steadfast_kit::{Chunks, Piece, Readiness, Step};
use steadfast_retry::{
    AttemptMark, BudgetLayer, Commit, ReplayBody, RetryConfig, RetryLayer, Superseded, operation,
};
use tower::{Layer, ServiceExt, service_fn};

use crate::stack::*;

fn refused() -> Script {
    Step::fail(Rejected::new(Reason::CircuitOpen).with_retry_in(Duration::from_secs(3)))
}

#[tokio::test(start_paused = true)]
async fn the_default_budget_repeats_a_quiet_call_however_slow_its_first_attempt_was() {
    for seconds in [9, 10, 25] {
        let config = RetryConfig::new().with_random(Random::seeded(1));
        let slow = status(503, "").after(Duration::from_secs(seconds));
        let (retry, probe) = stack(config, vec![slow, status(200, "there")]);
        run(&retry, get()).await.unwrap();
        assert_eq!(probe.calls(), 2, "after {seconds} s");
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_that_dies_while_the_service_gets_ready_is_not_repeated() {
    let later = Readiness::After(Duration::from_secs(20));
    let script = vec![reset(), status(200, "twice")];
    let probe = Inner::script(script).with_readiness([Readiness::Now, later]);
    let retry = RetryLayer::new(config()).layer(probe.clone());
    let now = tokio::time::Instant::now().into_std();
    let mut request = post(Chunks::of(["x"]));
    let lives_until = Deadline::after(now, Duration::from_secs(5));
    CallState::edit(request.extensions_mut(), |state| {
        state.set_key(CallKey::new("k").with_lives_until(lives_until));
    });
    let answered = run(&retry, request).await;
    assert_eq!(reason(&answered), Some(Reason::KeyExpired));
    assert_eq!(report(&answered).outcome, Outcome::Unknown);
    assert_eq!(probe.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn admission_is_awaited_also_where_nothing_is_repeated() {
    let once = config()
        .with_admission(Admission::WaitOnce)
        .with_max_attempts(attempts(1));
    let (retry, probe) = stack(once, vec![refused(), status(200, "let in")]);
    assert_eq!(text(run(&retry, get()).await.unwrap()).await, "let in");
    assert_eq!(probe.calls(), 2);

    let (retry, probe) = stack(
        config().with_admission(Admission::WaitOnce),
        vec![refused()],
    );
    let mut owned = post(Chunks::of(["x"]));
    CallState::edit(owned.extensions_mut(), CallState::set_owned);
    let answered = run(&retry, owned).await;
    assert_eq!(
        reason(&answered),
        Some(Reason::CircuitOpen),
        "its owner waits, if anybody does"
    );
    assert_eq!(report(&answered).outcome, Outcome::NotApplied);
    assert_eq!(probe.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_retry_that_a_layer_of_ours_refuses_costs_no_budget() {
    let budget = RateBudget::new(1, Duration::from_secs(60));
    let script = vec![status(503, ""), refused(), status(503, ""), status(200, "")];
    let (retry, probe) = stack(config().with_budget(budget), script);
    assert_eq!(reason(&run(&retry, get()).await), Some(Reason::CircuitOpen));
    run(&retry, get()).await.unwrap();
    assert_eq!(probe.calls(), 4);
}

#[tokio::test]
async fn a_budget_layer_reads_grpcs_status_in_the_head() {
    let budget = ThrottleBudget::default();
    let down = service_fn(|_: Request<()>| async {
        let head = Response::builder().header("content-type", "application/grpc");
        head.header("grpc-status", "14").body(())
    });
    let layer = BudgetLayer::new(budget.clone()).with_mark(AttemptMark::GrpcPreviousAttempts);
    for _ in 0..20 {
        layer.layer(down).oneshot(Request::new(())).await.unwrap();
    }
    let now = tokio::time::Instant::now().into_std();
    assert!(budget.reserve(Ask::new(now)).is_none());
}

#[tokio::test(start_paused = true)]
async fn a_last_grpc_attempt_that_fails_in_its_trailers_refunds_nothing() {
    let down = |_| {
        let trailers = Chunks::new([Piece::trailer("grpc-status", "14")]);
        answer(200, &[("content-type", "application/grpc")], trailers)
    };
    let budget = RefundBudget::new(28);
    let (retry, probe) = stack(
        config().with_budget(budget.clone()),
        (0..3).map(down).collect(),
    );
    run(&retry, get()).await.unwrap();
    assert_eq!(probe.calls(), 3);
    let now = tokio::time::Instant::now().into_std();
    assert!(budget.reserve(Ask::new(now)).is_none());
}

/// Always ready, with nothing.
struct Empties(u32);

impl Body for Empties {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0 += 1;
        assert!(self.0 < 100_000, "read for ever in one poll");
        Poll::Ready(Some(Ok(Frame::data(Bytes::new()))))
    }
}

#[tokio::test(start_paused = true)]
async fn an_endless_row_of_empty_frames_is_not_read_for_ever() {
    let endless = service_fn(|_: Request<ReplayBody<Full<Bytes>>>| async {
        Ok::<_, Infallible>(Response::new(Empties(0)))
    });
    let whole = config().with_commit(Commit::WholeBody { limit: 1024 });
    let retry = RetryLayer::new(whole).layer(endless);
    let request = Request::get("http://api.example/")
        .body(Full::default())
        .unwrap();
    retry.oneshot(request).await.unwrap();
}

/// A source with one place for a waker, as a channel has; pending for ever.
#[derive(Clone, Default)]
struct OneWaker(Arc<Mutex<Option<Waker>>>);

impl Body for OneWaker {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        *self.0.lock().unwrap() = Some(cx.waker().clone());
        Poll::Pending
    }
}

/// Each connection uploads in a task of its own and answers early.
#[tokio::test(start_paused = true)]
async fn an_upload_that_waits_learns_that_it_is_superseded() {
    let uploads = Arc::new(Mutex::new(Vec::new()));
    let started = uploads.clone();
    let early = service_fn(move |request: Request<ReplayBody<OneWaker>>| {
        let mut started = started.lock().unwrap();
        let first = started.is_empty();
        started.push(tokio::spawn(request.into_body().collect()));
        async move {
            tokio::time::sleep(Duration::from_millis(1)).await;
            let mut answer = Response::new(Full::<Bytes>::default());
            if first {
                *answer.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
            }
            Ok::<_, Infallible>(answer)
        }
    });
    let retry = RetryLayer::new(config()).layer(early);
    let request = Request::put("http://api.example/")
        .body(OneWaker::default())
        .unwrap();
    assert_eq!(retry.oneshot(request).await.unwrap().status(), 200);
    let first = uploads.lock().unwrap().remove(0);
    let ended = tokio::time::timeout(Duration::from_secs(60), first).await;
    let error = ended.expect("woken").unwrap().unwrap_err();
    assert!(error.is::<Superseded>(), "{error}");
    uploads.lock().unwrap()[0].abort();
}

#[tokio::test(start_paused = true)]
async fn an_empty_answer_is_kept_though_nothing_may_be_read() {
    struct Unsent;
    impl steadfast_core::Classify for Unsent {
        fn error(&self, _: &(dyn std::error::Error + 'static)) -> Verdict {
            Verdict::Transient(steadfast_core::Delivery::Unsent)
        }
    }
    let empty = answer(503, &[], Chunks::of([""; 0]).with_exact_size());
    let config = config().with_drain_limit(0).with_classify(Unsent);
    let (retry, _) = stack(config, vec![empty, reset(), reset()]);
    assert_eq!(run(&retry, get()).await.unwrap().status(), 503);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_operation_is_seen_as_cancelled() {
    let events = Events::default();
    let judge = |_: &io::Result<()>| Verdict::Success;
    let hangs = operation(events.observe(config()), Safety::Safe, judge, |_| {
        std::future::pending()
    });
    let patience = Duration::from_millis(100);
    assert!(tokio::time::timeout(patience, hangs).await.is_err());
    assert_eq!(events.ends(), [(Some(Reason::Cancelled), Outcome::Unknown)]);
}
