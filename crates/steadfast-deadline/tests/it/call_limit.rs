use std::convert::Infallible;
use std::time::Duration;

use http::Request;
use steadfast_core::{
    CallContext, CallState, Classify, Cut, Deadline, DefaultClassify, Delivery, Failure, Outcome,
    Reason, Verdict, in_context, in_current_context, without_context,
};
use steadfast_deadline::{CallLimit, LimitOverride};
use steadfast_kit::{Probe, Step};
use tokio::time::Instant;
use tower::{ServiceExt, service_fn};

use crate::{MS, due, given, in_time};

type Hanging = Probe<Request<()>, ()>;

fn hanging() -> Hanging {
    Probe::script([Step::never()])
}

/// The time that the call below is given, in milliseconds.
async fn seen(limit: Duration, request: Request<()>) -> Result<Option<u128>, Outcome> {
    let inner = service_fn(|request: Request<()>| async move {
        let state = CallState::of(request.extensions());
        let deadline = state.map_or(Deadline::NONE, CallState::deadline);
        let left = deadline.left(Instant::now().into_std());
        Ok::<_, Infallible>(left.map(|left| left.as_millis()))
    });
    let answer = CallLimit::new(inner, limit).oneshot(request).await;
    answer.map_err(|error| Failure::find(&*error).unwrap().report().outcome)
}

#[tokio::test(start_paused = true)]
async fn a_call_that_hangs_ends_at_its_limit_with_an_unknown_outcome() {
    let probe = hanging();
    let start = Instant::now();
    let service = CallLimit::new(probe.clone(), 250 * MS);
    let error = service.oneshot(Request::new(())).await.unwrap_err();
    assert_eq!(start.elapsed(), 250 * MS);
    assert_eq!(given(&error), (250 * MS, Cut::Deadline));
    let unknown = Verdict::Transient(Delivery::Unknown);
    assert_eq!(DefaultClassify.error(&*error), unknown);
    assert_eq!((probe.in_flight(), probe.cancelled()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn the_earliest_of_limit_state_and_context_holds_and_is_told_below() {
    for (limit, state, context, want) in [
        (30, None, None, 30),
        (30, Some(20), None, 20),
        (30, None, Some(20), 20),
        (30, Some(20), Some(10), 10),
        (30, Some(10), Some(20), 10),
        (30, Some(40), Some(50), 30),
    ] {
        let at = |ms: Option<u32>| ms.map_or(Deadline::NONE, |ms| in_time(ms * MS));
        let context = CallContext::new().with_deadline(at(context));
        let call = seen(limit * MS, due(at(state)));
        let left = in_context(context, call).await;
        assert_eq!(left, Ok(Some(want)), "{limit} {state:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn one_call_may_have_a_limit_of_its_own_but_no_more_than_its_deadline() {
    let own = |ms: u32, deadline| {
        let mut request = due(deadline);
        request.extensions_mut().insert(LimitOverride::new(ms * MS));
        request
    };
    let none = Deadline::NONE;
    assert_eq!(seen(30 * MS, own(300, none)).await, Ok(Some(300)));
    assert_eq!(seen(30 * MS, own(3, none)).await, Ok(Some(3)));
    assert_eq!(
        seen(30 * MS, own(300, in_time(40 * MS))).await,
        Ok(Some(40))
    );
}

// The table of the issue: zero is expired, `MAX` is none, a caller in the past is expired.
#[tokio::test(start_paused = true)]
async fn zero_and_the_past_are_expired_and_endless_is_none() {
    tokio::time::advance(Duration::from_secs(60)).await;
    let now = Instant::now().into_std();
    let past = Deadline::at(now - Duration::from_secs(1));
    let far = Deadline::at(now + Deadline::NO_LIMIT);
    let refused = Err(Outcome::NotApplied);
    for (limit, deadline, want) in [
        (Duration::ZERO, Deadline::NONE, refused),
        (Duration::ZERO, far, refused),
        (30 * MS, past, refused),
        (Duration::MAX, past, refused),
        (Duration::MAX, Deadline::at(now), refused),
        (Duration::MAX, Deadline::NONE, Ok(None)),
        (Deadline::NO_LIMIT, Deadline::NONE, Ok(None)),
        (Duration::MAX, in_time(7 * MS), Ok(Some(7))),
        (7 * MS, far, Ok(Some(7))),
    ] {
        assert_eq!(
            seen(limit, due(deadline)).await,
            want,
            "{limit:?} {deadline:?}"
        );
    }
    // Unlimited, and nothing overflows where the timer would be made.
    for (limit, deadline) in [(Duration::MAX, far), (Duration::MAX, Deadline::NONE)] {
        let probe = Probe::script([Step::answer("late").after(1_000_000 * MS)]);
        let answer = CallLimit::new(probe, limit).oneshot(due(deadline)).await;
        assert_eq!(answer.unwrap(), "late");
    }
}

#[tokio::test(start_paused = true)]
async fn an_expired_call_is_not_begun() {
    let probe = Probe::<Request<()>, ()>::script([]);
    let service = CallLimit::new(probe.clone(), Duration::ZERO);
    let error = service.oneshot(Request::new(())).await.unwrap_err();
    let report = *Failure::find(&*error).unwrap().report();
    assert_eq!((report.attempts, report.outcome), (0, Outcome::NotApplied));
    let refused = Verdict::Rejected(Reason::Deadline);
    assert_eq!(DefaultClassify.error(&*error), refused);
    assert_eq!(probe.calls(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_answer_with_the_last_tick_wins() {
    for (after, comes) in [(0, true), (99, true), (100, true), (101, false)] {
        let probe = Probe::script([Step::answer(()).after(after * MS)]);
        let service = CallLimit::new(probe, 100 * MS);
        let answer = service.oneshot(Request::new(())).await;
        assert_eq!(answer.is_ok(), comes, "after {after} ms");
    }
}

#[tokio::test(start_paused = true)]
async fn spawned_work_keeps_the_callers_time_and_background_work_opts_out() {
    let context = CallContext::new().with_deadline(in_time(5 * MS));
    let call = || seen(30 * MS, Request::new(()));
    let (kept, plain, outside) = in_context(context, async {
        let kept = tokio::spawn(in_current_context(call()));
        let plain = tokio::spawn(call());
        (kept.await, plain.await, without_context(call()).await)
    })
    .await;
    assert_eq!(kept.unwrap(), Ok(Some(5)));
    assert_eq!(plain.unwrap(), Ok(Some(30)));
    assert_eq!(outside, Ok(Some(30)));
}

// O-08.
#[tokio::test(start_paused = true)]
async fn a_caller_who_leaves_ends_the_call_at_once() {
    let probe = hanging();
    let call = CallLimit::new(probe.clone(), 10_000 * MS).oneshot(Request::new(()));
    assert!(tokio::time::timeout(100 * MS, call).await.is_err());
    tokio::time::advance(20_000 * MS).await;
    assert_eq!(
        (probe.calls(), probe.in_flight(), probe.cancelled()),
        (1, 0, 1)
    );
}

// A wall clock that is set is not even read; the monotonic one can only jump ahead, as after a
// suspended machine wakes.
#[tokio::test(start_paused = true)]
async fn a_clock_that_jumps_ends_the_calls_that_it_passed_and_no_later_ones() {
    let probe = hanging();
    let first = tokio::spawn(CallLimit::new(probe.clone(), 250 * MS).oneshot(Request::new(())));
    tokio::task::yield_now().await;
    assert_eq!(probe.in_flight(), 1);
    tokio::time::advance(Duration::from_secs(3_600)).await;
    let error = first.await.unwrap().unwrap_err();
    assert_eq!(given(&error), (250 * MS, Cut::Deadline));
    assert_eq!(seen(250 * MS, Request::new(())).await, Ok(Some(250)));
}
