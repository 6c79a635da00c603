use std::time::Duration;

use http::Request;
use steadfast_core::{
    Backoff, CallContext, CallState, Cut, Deadline, Elapsed, Jitter, Outcome, Reason, in_context,
};
use steadfast_kit::{Chunks, Step};
use tokio::time::Instant;

use crate::stack::*;

const TEN: Duration = Duration::from_secs(10);

fn fixed(base: Duration) -> Backoff {
    Backoff::default().with_jitter(Jitter::None).with_base(base)
}

fn until(mut request: Request<Chunks>, limit: Duration) -> Request<Chunks> {
    let deadline = Deadline::after(Instant::now().into_std(), limit);
    CallState::edit(request.extensions_mut(), |state| {
        state.tighten_deadline(deadline)
    });
    request
}

/// O-09: whenever the failure comes, the call ends by its deadline.
#[tokio::test(start_paused = true)]
async fn no_wait_is_begun_that_would_end_past_the_deadline() {
    for failing_ms in (0..=9_900).step_by(300).chain([9_900, 9_999]) {
        let failing = Duration::from_millis(failing_ms);
        let slow = || Step::never().after(Duration::from_secs(15));
        let script = vec![status(503, "A").after(failing), slow(), slow()];
        let backoff = fixed(Duration::from_millis(6_400));
        let (retry, probe) = stack(config().with_backoff(backoff), script);
        let started = Instant::now();
        let answered = run(&retry, until(get(), TEN)).await;
        assert_eq!(reason(&answered), Some(Reason::Deadline));
        if failing_ms >= 3_600 {
            assert_eq!(
                started.elapsed(),
                failing,
                "the outcome comes when it is known"
            );
            assert_eq!(text(answered.unwrap()).await, "A");
            assert_eq!(probe.calls(), 1);
        } else {
            assert_eq!(started.elapsed(), TEN, "after {failing:?}");
            let elapsed = *Elapsed::find(&*answered.unwrap_err()).unwrap();
            assert_eq!(elapsed, Elapsed::new(TEN, Cut::Deadline));
            assert_eq!(probe.calls(), 2);
            assert_eq!(probe.cancelled(), 1);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_total_limit_holds_where_no_deadline_was_set() {
    let (retry, probe) = stack(config(), vec![Step::never()]);
    let started = Instant::now();
    let answered = run(&retry, get()).await;
    assert_eq!(started.elapsed(), Duration::from_secs(30));
    assert_eq!(reason(&answered), Some(Reason::Deadline));
    assert_eq!(report(&answered).outcome, Outcome::Unknown);
    assert_eq!(probe.cancelled(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_earliest_of_limit_state_and_context_rules() {
    let second = Duration::from_secs(1);
    for (limit, state, context, want) in [(1, 2, 3, 1), (3, 1, 2, 1), (3, 2, 1, 1)] {
        let (retry, _) = stack(
            config().with_total_limit(second * limit),
            vec![Step::never()],
        );
        let started = Instant::now();
        let deadline = Deadline::after(started.into_std(), second * context);
        let context = CallContext::new().with_deadline(deadline);
        let request = until(get(), second * state);
        let answered = in_context(context, run(&retry, request)).await;
        assert_eq!(reason(&answered), Some(Reason::Deadline));
        assert_eq!(started.elapsed(), second * want);
    }
}

#[tokio::test(start_paused = true)]
async fn an_expired_call_is_not_sent() {
    let (retry, probe) = stack(config(), vec![]);
    let answered = run(&retry, until(get(), Duration::ZERO)).await;
    assert_eq!(reason(&answered), Some(Reason::Deadline));
    assert_eq!(report(&answered).attempts, 0);
    assert_eq!(report(&answered).outcome, Outcome::NotApplied);
    assert_eq!(probe.calls(), 0);
}

/// Later attempts carry the deadline, so that what stands below can cut itself to it.
#[tokio::test(start_paused = true)]
async fn each_later_attempt_is_told_the_deadline() {
    let (retry, probe) = stack(config(), vec![status(503, ""), status(200, "")]);
    let started = Instant::now();
    run(&retry, get()).await.unwrap();
    let heads = probe.heads();
    assert!(
        CallState::of(&heads[0].extensions).is_none(),
        "a first attempt gets no state"
    );
    let told = CallState::of(&heads[1].extensions).unwrap().deadline();
    assert_eq!(
        told,
        Deadline::after(started.into_std(), Duration::from_secs(30))
    );
}

/// O-07: settings without end neither panic nor spin.
#[tokio::test(start_paused = true)]
async fn extreme_settings_neither_panic_nor_spin() {
    let growth = steadfast_core::backoff::Multiplier::try_from(1e300).unwrap();
    let backoff = Backoff::default()
        .with_base(Duration::MAX)
        .with_multiplier(growth)
        .with_cap(Duration::from_millis(10));
    let many = 5_000;
    let script = (1..many)
        .map(|_| status(503, ""))
        .chain([status(200, "done")])
        .collect();
    let endless = config()
        .with_max_attempts(attempts(u32::MAX))
        .with_backoff(backoff)
        .with_total_limit(Duration::MAX);
    let (retry, probe) = stack(endless.clone(), script);
    assert_eq!(text(run(&retry, get()).await.unwrap()).await, "done");
    assert_eq!(probe.calls(), many);

    // A wait without end is pending, not a panic: the caller's own patience ends it.
    for hint in [
        "99999999999999999999",
        "9223372036854775000",
        "9000000000000000000",
    ] {
        let forever = answer(503, &[("retry-after", hint)], Chunks::of([""]));
        let (retry, probe) = stack(endless.clone(), vec![forever]);
        let day = Duration::from_secs(86_400);
        assert!(tokio::time::timeout(day, run(&retry, get())).await.is_err());
        assert_eq!(probe.calls(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn one_attempt_is_one_attempt() {
    let (retry, probe) = stack(
        config().with_max_attempts(attempts(1)),
        vec![status(503, "A")],
    );
    let answered = run(&retry, get()).await;
    assert_eq!(reason(&answered), Some(Reason::AttemptsExhausted));
    assert_eq!(text(answered.unwrap()).await, "A");
    assert_eq!(probe.calls(), 1);
}

/// A wait of zero takes no timer and lets no time pass.
#[tokio::test(start_paused = true)]
async fn a_wait_of_zero_is_no_wait() {
    let script = vec![status(503, "A"), reset(), status(200, "done")];
    let (retry, _) = stack(config().with_backoff(fixed(Duration::ZERO)), script);
    let started = Instant::now();
    assert_eq!(text(run(&retry, get()).await.unwrap()).await, "done");
    assert!(started.elapsed().is_zero());
}

#[tokio::test(start_paused = true)]
async fn attempts_without_a_wait_let_other_tasks_run() {
    let script = (0..1_000)
        .map(|_| reset())
        .chain([status(200, "done")])
        .collect();
    let config = config()
        .with_max_attempts(attempts(u32::MAX))
        .with_backoff(fixed(Duration::ZERO).with_throttled_base(Duration::ZERO));
    let (retry, probe) = stack(config, script);
    let mut call = tokio_test::task::spawn(run(&retry, get()));
    assert!(call.poll().is_pending());
    assert!(call.is_woken());
    assert!(probe.calls() < 100, "{} calls in one poll", probe.calls());
    assert_eq!(text(call.await.unwrap()).await, "done");
}
