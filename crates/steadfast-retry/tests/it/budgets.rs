use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use steadfast_core::budget::{Budget, Ending, Permit, RatioBudget, Sending, ThrottleBudget};
use steadfast_core::{Outcome, Ratio, Reason};
use tower::{Layer, ServiceExt};

use crate::stack::*;
use steadfast_retry::RetryLayer;

/// A budget that is always spent.
#[derive(Debug)]
pub(crate) struct Never;

impl Budget for Never {
    fn on_call(&self, _: Instant) {}

    fn on_outcome(&self, _: Sending, _: Ending, _: Instant) {}

    fn reserve(&self, _: u32, _: Instant) -> Option<Permit> {
        None
    }
}

/// Counts what it is told.
#[derive(Clone, Debug, Default)]
struct Told(Arc<[AtomicUsize; 5]>);

impl Told {
    fn add(&self, what: usize) {
        self.0[what].fetch_add(1, Ordering::Relaxed);
    }

    /// Calls, first successes, first failures, retried successes, retried failures.
    fn counts(&self) -> [usize; 5] {
        std::array::from_fn(|what| self.0[what].load(Ordering::Relaxed))
    }
}

impl Budget for Told {
    fn on_call(&self, _: Instant) {
        self.add(0);
    }

    fn on_outcome(&self, sending: Sending, ending: Ending, _: Instant) {
        let retry = if sending == Sending::Retry { 2 } else { 0 };
        self.add(1 + retry + usize::from(ending == Ending::Failure));
    }

    fn reserve(&self, cost: u32, _: Instant) -> Option<Permit> {
        assert_eq!(cost, 1);
        Some(Permit::free())
    }
}

#[tokio::test(start_paused = true)]
async fn a_spent_budget_returns_the_answer_that_there_is() {
    let (retry, probe) = stack(config().with_budget(Never), vec![status(503, "A")]);
    let answered = run(&retry, get()).await;
    assert_eq!(reason(&answered), Some(Reason::BudgetExhausted));
    assert_eq!(text(answered.unwrap()).await, "A");
    assert_eq!(probe.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn retries_stay_below_the_ratio_when_everything_fails() {
    for (percent, retries) in [(10, 10), (15, 15), (60, 60), (150, 150)] {
        let budget = RatioBudget::new(Ratio::percent(percent).unwrap())
            .with_window(std::time::Duration::from_secs(3600));
        let script = (0..100 + retries).map(|_| status(503, "")).collect();
        let (retry, probe) = stack(config().with_budget(budget), script);
        for _ in 0..100 {
            run(&retry, get()).await.unwrap();
        }
        assert_eq!(probe.calls(), 100 + retries, "{percent}%");
    }
}

#[tokio::test(start_paused = true)]
async fn one_handle_is_one_budget_for_several_stacks() {
    let budget = RatioBudget::new(Ratio::ONE);
    let failing = || (0..9).map(|_| status(503, "")).collect();
    let (one, first) = stack(config().with_budget(budget.clone()), failing());
    let (two, second) = stack(config().with_budget(budget), failing());
    run(&one, get()).await.unwrap();
    run(&two, get()).await.unwrap();
    assert_eq!((first.calls(), second.calls()), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn a_throttle_is_fed_by_outcomes() {
    let budget = ThrottleBudget::try_new(4, Ratio::ONE).unwrap();
    let script = [503, 503, 503, 503, 200, 200, 503, 200]
        .map(|code| status(code, ""))
        .into();
    let (retry, probe) = stack(config().with_budget(budget), script);
    // 4 → 3 (retry) → 2, which is exactly half: no third attempt.
    assert_eq!(
        reason(&run(&retry, get()).await),
        Some(Reason::BudgetExhausted)
    );
    assert_eq!(probe.calls(), 2);
    // 2 → 1: none at all.
    run(&retry, get()).await.unwrap();
    assert_eq!(probe.calls(), 3);
    run(&retry, get()).await.unwrap();
    assert_eq!(probe.calls(), 4);
    // 0 → 1 → 2, then 2 → 1.
    for _ in 0..2 {
        run(&retry, get()).await.unwrap();
    }
    assert_eq!(
        reason(&run(&retry, get()).await),
        Some(Reason::BudgetExhausted)
    );
    assert_eq!(probe.calls(), 7);
}

#[tokio::test(start_paused = true)]
async fn a_budget_is_told_of_calls_and_of_outcomes_that_a_repeat_may_change() {
    let told = Told::default();
    let script = vec![
        status(200, ""),
        reset(),
        status(503, ""),
        status(200, ""),
        status(404, ""),
        steadfast_kit::Step::fail(steadfast_core::Rejected::new(Reason::CircuitOpen)),
    ];
    let (retry, probe) = stack(config().with_budget(told.clone()), script);
    for _ in 0..4 {
        let _ = run(&retry, get()).await;
    }
    assert_eq!(probe.steps_left(), 0);
    assert_eq!(
        told.counts(),
        [3, 1, 1, 1, 1],
        "404 is neither, a refusal of ours not even a call"
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_dropped_in_its_wait_gives_the_permit_back() {
    let budget = RatioBudget::new(Ratio::ONE);
    let probe = Inner::script((0..4).map(|_| status(503, "")).collect::<Vec<_>>());
    let layer = RetryLayer::new(config().with_budget(budget.clone()));
    let retry = layer.layer(probe.clone());
    let mut call = tokio_test::task::spawn(retry.clone().oneshot(get()));
    assert!(call.poll().is_pending());
    let now = tokio::time::Instant::now().into_std();
    assert!(
        budget.reserve(1, now).is_none(),
        "it is reserved before the wait"
    );
    drop(call);
    assert!(budget.reserve(1, now).is_some());
    let answered = run(&retry, get()).await;
    assert_eq!(report(&answered).outcome, Outcome::Unknown);
}
