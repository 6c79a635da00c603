use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use steadfast_core::budget::{
    Ask, Budget, ConcurrencyBudget, Ending, KeyedBudget, Permit, RateBudget, RatioBudget,
    RefundBudget, Sending, ThrottleBudget,
};
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

    fn reserve(&self, _: Ask) -> Option<Permit> {
        None
    }
}

/// Counts what it is told.
#[derive(Clone, Debug, Default)]
struct Told(Arc<[AtomicUsize; 9]>);

impl Told {
    fn add(&self, what: usize) {
        self.0[what].fetch_add(1, Ordering::Relaxed);
    }

    /// Calls; then success, failure, neither, not sent: of first attempts, of retries.
    fn counts(&self) -> [usize; 9] {
        std::array::from_fn(|what| self.0[what].load(Ordering::Relaxed))
    }
}

impl Budget for Told {
    fn on_call(&self, _: Instant) {
        self.add(0);
    }

    fn on_outcome(&self, sending: Sending, ending: Ending, _: Instant) {
        let first = if sending == Sending::First { 1 } else { 5 };
        self.add(first + ending as usize);
    }

    fn reserve(&self, _: Ask) -> Option<Permit> {
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
            .with_window(Duration::from_secs(3600));
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

/// A thousand calls against a peer that fails every one, in one second.
#[tokio::test(start_paused = true)]
async fn in_an_outage_each_budget_holds_its_documented_bound() {
    async fn retries(budget: impl Budget) -> usize {
        let backoff = steadfast_core::Backoff::default().with_cap(Duration::ZERO);
        let config = config().with_backoff(backoff).with_budget(budget);
        let (retry, probe) = stack(config, (0..3_000).map(|_| status(503, "")).collect());
        for _ in 0..1_000 {
            run(&retry, get()).await.unwrap();
        }
        probe.calls() - 1_000
    }
    let hour = Duration::from_secs(3600);
    assert_eq!(retries(RatioBudget::default().with_window(hour)).await, 100);
    let floor = RatioBudget::default().with_minimum_per_second(Ratio::percent(1500).unwrap());
    assert_eq!(
        retries(floor).await,
        150,
        "15 a second over 10 s are more than 10% of 1,000"
    );
    let throttled = retries(ThrottleBudget::default()).await;
    assert!(
        (1..=4).contains(&throttled),
        "{throttled} of at most ⌈10 / 2⌉ − 1"
    );
    assert_eq!(retries(RefundBudget::default()).await, 35, "⌊500 / 14⌋");
    assert_eq!(retries(RateBudget::default()).await, 60);
    // One call at a time: its retries are never more than the minimum in flight.
    assert_eq!(retries(ConcurrencyBudget::new(Ratio::ZERO, 1)).await, 2_000);
    assert_eq!(retries(ConcurrencyBudget::new(Ratio::ZERO, 0)).await, 0);
}

/// One destination that is down does not spend the retries of the others.
#[tokio::test(start_paused = true)]
async fn each_destination_may_have_a_budget_of_its_own() {
    let keyed = KeyedBudget::by_destination(|| RatioBudget::new(Ratio::ONE));
    let config = config()
        .with_max_attempts(attempts(2))
        .with_budget_for(keyed);
    let (retry, probe) = stack(config, (0..9).map(|_| status(503, "")).collect());
    let to = |host: &str| {
        let mut request = get();
        *request.uri_mut() = format!("http://{host}/").parse().unwrap();
        request
    };
    for (host, calls) in [("a.example", 2), ("b.example", 4), ("A.example", 6)] {
        run(&retry, to(host)).await.unwrap();
        assert_eq!(probe.calls(), calls, "{host}");
    }
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
async fn a_budget_is_told_once_of_each_attempt_that_went_out() {
    let told = Told::default();
    let script = vec![
        status(200, ""),
        reset(),
        status(503, ""),
        status(200, ""),
        status(404, ""),
        steadfast_kit::Step::fail(steadfast_core::Rejected::new(Reason::CircuitOpen)),
        steadfast_kit::Step::never(),
        status(503, ""),
        steadfast_kit::Step::never(),
    ];
    let (retry, probe) = stack(config().with_budget(told.clone()), script);
    for _ in 0..5 {
        let _ = run(&retry, get()).await;
    }
    let patience = Duration::from_secs(5);
    assert!(
        tokio::time::timeout(patience, run(&retry, get()))
            .await
            .is_err()
    );
    assert_eq!(probe.steps_left(), 0);
    // The fifth call hangs until its time is over; the caller of the sixth leaves its retry.
    assert_eq!(told.counts(), [6, 1, 3, 1, 1, 1, 1, 1, 0]);
}

/// Retries in flight are counted from the decision to the end of the retry, once each.
#[tokio::test(start_paused = true)]
async fn a_concurrency_budget_counts_what_is_in_flight() {
    let budget = ConcurrencyBudget::new(Ratio::ZERO, 1);
    let slow = || status(200, "").after(Duration::from_secs(1));
    let script = vec![
        status(503, ""),
        reset(),
        status(503, ""),
        slow(),
        status(200, ""),
    ];
    let (retry, probe) = stack(config().with_budget(budget.clone()), script);
    let first = tokio::spawn(retry.clone().oneshot(get()));
    tokio::time::sleep(Duration::from_millis(1)).await;
    let second = run(&retry, get()).await;
    assert_eq!(reason(&second), Some(Reason::BudgetExhausted));
    first.await.unwrap().unwrap();
    assert_eq!(probe.calls(), 4);
    let now = tokio::time::Instant::now().into_std();
    assert!(
        budget.reserve(Ask::new(now)).is_some(),
        "all permits are back"
    );
}

#[tokio::test(start_paused = true)]
async fn a_refund_budget_is_whole_again_when_every_retry_works() {
    let budget = RefundBudget::new(14);
    let script = (0..40)
        .map(|n| status(if n % 2 == 0 { 503 } else { 200 }, ""))
        .collect();
    let (retry, probe) = stack(config().with_budget(budget), script);
    for _ in 0..20 {
        assert_eq!(run(&retry, get()).await.unwrap().status(), 200);
    }
    assert_eq!(probe.calls(), 40);
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
        budget.reserve(Ask::new(now)).is_none(),
        "it is reserved before the wait"
    );
    drop(call);
    assert!(budget.reserve(Ask::new(now)).is_some());
    let answered = run(&retry, get()).await;
    assert_eq!(report(&answered).outcome, Outcome::Unknown);
}
