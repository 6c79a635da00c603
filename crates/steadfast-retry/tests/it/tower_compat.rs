//! Behind tower's own traits: what `tower::retry`'s parts get wrong, ours do not.

use std::collections::HashSet;
use std::time::Duration;

use steadfast_core::budget::{RateBudget, RatioBudget, RefundBudget, ThrottleBudget};
use steadfast_core::{Backoff, Jitter, Random, Ratio};
use steadfast_retry::tower_compat::{BackoffSession, MakeSession, TowerBudget};
use tower::retry::Policy;
use tower::retry::backoff::{Backoff as _, MakeBackoff};
use tower::retry::budget::Budget;
use tower::{ServiceBuilder, ServiceExt, service_fn};

fn seconds(base: u64) -> Backoff {
    Backoff::default().with_base(Duration::from_secs(base))
}

fn make(backoff: Backoff) -> MakeSession {
    MakeSession::with_random(backoff, Random::seeded(11))
}

fn delays(mut session: BackoffSession) -> [Duration; 4] {
    std::array::from_fn(|_| session.next_delay())
}

fn spread(min: &Duration, max: &Duration) -> f64 {
    max.as_secs_f64() - min.as_secs_f64()
}

fn withdrawals(budget: &impl Budget) -> usize {
    (0..1000).filter(|_| budget.withdraw()).count()
}

#[test]
fn three_sessions_of_one_maker_draw_differently() {
    let mut make = make(seconds(1));
    let session = make.make_backoff();
    // tower::retry clones its policy, and with it the session, for each call.
    let all = [
        delays(session.clone()),
        delays(session.clone()),
        delays(session),
        delays(make.make_backoff()),
        delays(make.clone().make_backoff()),
    ];
    let different: HashSet<_> = all.iter().flatten().collect();
    assert_eq!(different.len(), 20, "{all:?}");
}

#[test]
fn a_cloned_session_begins_anew() {
    let exact = seconds(1).with_jitter(Jitter::None);
    let mut session = make(exact).make_backoff();
    let whole = [1, 2, 4, 8].map(Duration::from_secs);
    assert_eq!(std::array::from_fn(|_| session.next_delay()), whole);
    assert_eq!(delays(session.clone()), whole);
}

#[test]
fn jitter_applies_to_whole_seconds_too() {
    for base in [1, 2] {
        let jitter = Jitter::Proportional(Ratio::percent(90).unwrap());
        let mut make = make(seconds(base).with_jitter(jitter));
        let mut first = || make.make_backoff().next_delay();
        let drawn: Vec<_> = (0..1000).map(|_| first()).collect();
        let (min, max) = (drawn.iter().min().unwrap(), drawn.iter().max().unwrap());
        // h × U(0.1, 1.9)
        assert!(spread(min, max) > 1.7 * base as f64, "{min:?} to {max:?}");
        let whole_seconds: HashSet<_> = drawn.iter().map(Duration::as_secs).collect();
        assert!(whole_seconds.len() as u64 > base, "{whole_seconds:?}");
    }
}

#[test]
fn no_delay_sits_on_the_cap() {
    let cap = Duration::from_secs(20);
    for jitter in [Jitter::Full, Jitter::Equal, Jitter::Decorrelated] {
        let mut make = make(seconds(1).with_cap(cap).with_jitter(jitter));
        let mut at_cap = || {
            let mut session = make.make_backoff();
            (0..30).map(|_| session.next_delay()).last().unwrap()
        };
        let drawn: Vec<_> = (0..1000).map(|_| at_cap()).collect();
        assert!(drawn.iter().all(|delay| *delay < cap), "{jitter:?}");
        let different: HashSet<_> = drawn.iter().collect();
        assert!(different.len() > 990, "{jitter:?}: {}", different.len());
        let (min, max) = (drawn.iter().min().unwrap(), drawn.iter().max().unwrap());
        assert!(spread(min, max) > 9.0, "{jitter:?}: {min:?} to {max:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn ratios_that_are_no_whole_parts_of_one_are_exact() {
    let percents = [1, 10, 15, 34, 35, 60, 70, 75, 90, 100, 150];
    for (percent, deposits) in percents
        .into_iter()
        .flat_map(|p| [(p, 10), (p, 100), (p, 7)])
    {
        let budget: TowerBudget = RatioBudget::new(Ratio::percent(percent).unwrap()).into();
        (0..deposits).for_each(|_| budget.deposit());
        let want = (percent as usize * deposits).div_ceil(100);
        assert_eq!(withdrawals(&budget), want, "{percent}% of {deposits}");
    }
}

#[test]
fn threads_never_overdraw() {
    for _ in 0..300 {
        let long = Duration::from_secs(24 * 3600);
        let budget = RatioBudget::new(Ratio::percent(50).unwrap()).with_window(long);
        let budget = TowerBudget::from(budget);
        (0..100).for_each(|_| budget.deposit());
        let drawn: usize = std::thread::scope(|scope| {
            let draw = || (0..20).filter(|_| budget.withdraw()).count();
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(draw)).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .sum()
        });
        assert_eq!(drawn, 50);
    }
}

/// tower's budget walks each second of them under a lock, about 0.2 s each time.
#[tokio::test(start_paused = true)]
async fn thirty_idle_days_cost_nothing() {
    let budget = RatioBudget::default().with_window(Duration::from_secs(1));
    let budget = TowerBudget::from(budget);
    #[allow(clippy::disallowed_methods, reason = "work is measured in real time")]
    let started = std::time::Instant::now();
    for _ in 0..500 {
        budget.deposit();
        assert!(budget.withdraw());
        assert!(!budget.withdraw());
        tokio::time::advance(Duration::from_secs(30 * 24 * 3600)).await;
    }
    let took = started.elapsed();
    assert!(
        took < Duration::from_secs(20),
        "{took:?}, tower's takes 100 s"
    );
}

#[tokio::test(start_paused = true)]
async fn each_budget_that_can_be_one_keeps_its_bound() {
    let throttle = TowerBudget::from(ThrottleBudget::default());
    assert_eq!(withdrawals(&throttle), 4, "9, 8, 7, 6 of 10, then half");
    (0..51).for_each(|_| throttle.deposit());
    assert_eq!(
        withdrawals(&throttle),
        0,
        "5.1 of 10 less the failure itself"
    );

    let rate = TowerBudget::from(RateBudget::default());
    assert_eq!(withdrawals(&rate), 60);
    rate.deposit();
    assert_eq!(withdrawals(&rate), 0);

    let refund = TowerBudget::from(RefundBudget::default());
    assert_eq!(withdrawals(&refund), 500 / 14);
    (0..14).for_each(|_| refund.deposit());
    assert_eq!(withdrawals(&refund), 1);
}

#[derive(Clone)]
struct Unavailable {
    backoff: BackoffSession,
    budget: TowerBudget,
}

impl Policy<(), u16, std::convert::Infallible> for Unavailable {
    type Future = tokio::time::Sleep;

    fn retry(
        &mut self,
        _: &mut (),
        result: &mut Result<u16, std::convert::Infallible>,
    ) -> Option<Self::Future> {
        match result {
            Ok(503) => self.budget.withdraw().then(|| self.backoff.next_backoff()),
            _ => {
                self.budget.deposit();
                None
            }
        }
    }

    fn clone_request(&mut self, (): &()) -> Option<()> {
        Some(())
    }
}

#[tokio::test(start_paused = true)]
async fn towers_own_loop_runs_on_these_parts() {
    let exact = seconds(1).with_jitter(Jitter::None);
    let policy = Unavailable {
        backoff: make(exact).make_backoff(),
        budget: RatioBudget::new(Ratio::percent(30).unwrap()).into(),
    };
    let up = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let peer_up = up.clone();
    let service = ServiceBuilder::new()
        .retry(policy)
        .service(service_fn(move |()| {
            let up = peer_up.load(std::sync::atomic::Ordering::Relaxed);
            std::future::ready(Ok::<_, std::convert::Infallible>(if up {
                200
            } else {
                503
            }))
        }));
    for _ in 0..10 {
        assert_eq!(service.clone().oneshot(()).await, Ok(200));
    }
    up.store(false, std::sync::atomic::Ordering::Relaxed);
    let started = tokio::time::Instant::now();
    assert_eq!(service.clone().oneshot(()).await, Ok(503));
    assert_eq!(
        started.elapsed(),
        Duration::from_secs(1 + 2 + 4),
        "three of ten, all at once"
    );
    assert_eq!(service.oneshot(()).await, Ok(503));
    assert_eq!(started.elapsed(), Duration::from_secs(7));
}
