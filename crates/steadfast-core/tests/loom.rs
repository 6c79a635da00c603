//! Every interleaving of a few threads on each budget and on the registry, by loom:
//! `RUSTFLAGS="--cfg loom" cargo test --release -p steadfast-core --test loom`.
//!
//! No overdraw, no lost refund, each permit settled once. Empty without `--cfg loom`.
#![cfg(loom)]
#![allow(
    clippy::disallowed_methods,
    reason = "an arbitrary instant to count from"
)]

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};

use loom::thread;
use steadfast_core::Ratio;
use steadfast_core::budget::{
    Ask, Budget, BudgetFor, ConcurrencyBudget, Ending, KeyedBudget, RateBudget, RatioBudget,
    RefundBudget, Sending, Target, ThrottleBudget,
};
use steadfast_core::keyed::Keyed;

/// Interleavings with up to three preemptions: nearly every race known needs no more than two.
fn model(f: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(f);
}

/// One retry, sent and failed; whether it was allowed.
fn send(budget: &impl Budget, now: Instant) -> bool {
    let permit = budget.reserve(Ask::new(now));
    permit.is_some_and(|mut permit| {
        permit.sent();
        true
    })
}

/// What is left, sent and failed.
fn spend_all(budget: &impl Budget, now: Instant) -> u64 {
    (0..50).take_while(|_| send(budget, now)).count() as u64
}

/// Runs `f` on a second thread and `g` on this one.
fn both<B, R, S>(budget: &B, f: impl FnOnce(&B) -> R + 'static, g: impl FnOnce(&B) -> S) -> (R, S)
where
    B: Budget + Clone,
    R: 'static,
{
    let handle = budget.clone();
    let other = thread::spawn(move || f(&handle));
    let mine = g(budget);
    (other.join().unwrap(), mine)
}

#[test]
fn ratio_never_overdraws_and_counts_every_call() {
    model(|| {
        let (budget, now) = (
            RatioBudget::new(Ratio::percent(50).unwrap()),
            Instant::now(),
        );
        let call_and_retry = move |budget: &RatioBudget| {
            budget.on_call(now);
            u64::from(send(budget, now))
        };
        let (a, b) = both(&budget, call_and_retry, call_and_retry);
        assert!(a + b <= 1, "⌈0.5 × 2⌉ = 1");
        assert_eq!(a + b + spend_all(&budget, now), 1);
        budget.on_call(now);
        assert_eq!(spend_all(&budget, now), 1, "⌈0.5 × 3⌉ = 2");
    });
}

#[test]
fn ratio_gets_every_unsent_permit_back() {
    model(|| {
        let (budget, now) = (RatioBudget::new(Ratio::ONE), Instant::now());
        budget.on_call(now);
        budget.on_call(now);
        let held = budget.reserve(Ask::new(now)).unwrap();
        let handle = budget.clone();
        let dropped = thread::spawn(move || drop((handle, held)));
        let sent = u64::from(send(&budget, now));
        dropped.join().unwrap();
        assert_eq!(sent + spend_all(&budget, now), 2);
    });
}

#[test]
fn ratio_counts_calls_across_a_step_of_its_window() {
    model(|| {
        let (budget, now) = (RatioBudget::new(Ratio::ONE), Instant::now());
        budget.on_call(now);
        // The same slot, ten steps later: the old count goes, neither of the new ones does.
        let later = now + Duration::from_secs(10);
        let call = move |budget: &RatioBudget| budget.on_call(later);
        both(&budget, call, call);
        assert_eq!(spend_all(&budget, later), 2);
    });
}

#[test]
fn concurrency_never_overdraws_and_forgets_nobody() {
    model(|| {
        let (budget, now) = (ConcurrencyBudget::new(Ratio::ZERO, 1), Instant::now());
        let call = move |budget: &ConcurrencyBudget| {
            budget.on_call(now);
            let permit = budget.reserve(Ask::new(now));
            let got = permit.is_some();
            if let Some(permit) = permit {
                assert!(budget.reserve(Ask::new(now)).is_none(), "one is in flight");
                permit.succeeded();
            }
            budget.on_outcome(Sending::First, Ending::Success, now);
            got
        };
        let (a, b) = both(&budget, call, call);
        assert!(a || b);
        let held = budget.reserve(Ask::new(now));
        assert!(held.is_some(), "all permits are back");
        assert!(budget.reserve(Ask::new(now)).is_none(), "each of them once");
    });
}

#[test]
fn refund_never_overdraws_and_loses_no_refund() {
    model(|| {
        let (budget, now) = (RefundBudget::new(3).with_costs(1, 1), Instant::now());
        let worked = move |budget: &RefundBudget| {
            if let Some(mut permit) = budget.reserve(Ask::new(now)) {
                permit.sent();
                permit.succeeded();
            }
        };
        let (failed, ()) = both(&budget, move |budget| u64::from(send(budget, now)), worked);
        assert_eq!(failed + spend_all(&budget, now), 3);
    });
}

#[test]
fn refund_never_passes_its_capacity() {
    model(|| {
        let (budget, now) = (RefundBudget::new(2).with_costs(1, 1), Instant::now());
        let held = budget.reserve(Ask::new(now)).unwrap();
        let success = |budget: &RefundBudget| {
            budget.on_outcome(Sending::First, Ending::Success, Instant::now());
        };
        both(&budget, success, move |_| drop(held));
        assert_eq!(spend_all(&budget, now), 2);
    });
}

#[test]
fn rate_never_overdraws_and_gets_unsent_permits_back() {
    model(|| {
        let (budget, now) = (RateBudget::new(2, Duration::from_secs(10)), Instant::now());
        let unsent = move |budget: &RateBudget| drop(budget.reserve(Ask::new(now)));
        let (sent, ()) = both(&budget, move |budget| u64::from(send(budget, now)), unsent);
        assert_eq!(sent, 1, "two hold at most two");
        assert_eq!(spend_all(&budget, now), 1);
    });
}

#[test]
fn throttle_counts_every_outcome() {
    model(|| {
        let budget = ThrottleBudget::try_new(4, Ratio::ONE).unwrap();
        let now = Instant::now();
        budget.on_outcome(Sending::First, Ending::Failure, now);
        let tell =
            |ending| move |budget: &ThrottleBudget| budget.on_outcome(Sending::First, ending, now);
        both(&budget, tell(Ending::Failure), tell(Ending::Failure));
        assert!(!send(&budget, now), "1 of 4");
        both(&budget, tell(Ending::Success), tell(Ending::Success));
        assert!(send(&budget, now), "3 of 4");
    });
}

#[test]
fn the_registry_gives_two_threads_one_value() {
    model(|| {
        let keyed: Arc<Keyed<u8, Arc<u8>>> = Arc::default();
        let now = Instant::now();
        let other = keyed.clone();
        let get = move |keyed: &Keyed<u8, Arc<u8>>| keyed.get_or_insert_with(&1, now, Arc::default);
        let theirs = thread::spawn(move || get(&other));
        let mine = get(&keyed);
        assert!(Arc::ptr_eq(&mine, &theirs.join().unwrap()));
        assert_eq!(keyed.len(), 1);
    });
}

#[test]
fn the_registry_never_holds_more_than_its_places() {
    model(|| {
        let keyed: Keyed<u8, ()> = Keyed::new().with_max_keys(NonZeroU32::MIN);
        let (keyed, now) = (Arc::new(keyed), Instant::now());
        let other = keyed.clone();
        let use_both = move |keyed: &Keyed<u8, ()>| {
            for key in 0..2 {
                keyed.get_or_insert_with(&key, now, || ());
                assert!(keyed.len() <= 1);
            }
        };
        let theirs = thread::spawn(move || use_both(&other));
        use_both(&keyed);
        theirs.join().unwrap();
    });
}

#[test]
fn three_threads_share_two_retries() {
    model(|| {
        let (budget, now) = (RefundBudget::new(2).with_costs(1, 1), Instant::now());
        let worked = move |budget: RefundBudget| {
            if let Some(permit) = budget.reserve(Ask::new(now)) {
                permit.succeeded();
            }
        };
        let spawn = |budget: RefundBudget| thread::spawn(move || worked(budget));
        let others = [spawn(budget.clone()), spawn(budget.clone())];
        let failed = u64::from(send(&budget, now));
        others.into_iter().for_each(|other| other.join().unwrap());
        assert_eq!(failed + spend_all(&budget, now), 2);
    });
}

#[test]
fn a_permit_of_two_budgets_settles_both_once() {
    model(|| {
        let now = Instant::now();
        let one = || RefundBudget::new(1).with_costs(1, 1);
        let budgets = KeyedBudget::by_destination(one).with_total(one());
        let request = http::Request::new(());
        let target = Target::of(
            request.method(),
            request.uri(),
            request.headers(),
            request.extensions(),
        );
        let (mine, theirs) = (
            budgets.budget_for(target, now),
            budgets.budget_for(target, now),
        );
        let other = thread::spawn(move || {
            theirs.reserve(Ask::new(now)).is_some_and(|permit| {
                permit.succeeded();
                true
            })
        });
        let unsent = mine.reserve(Ask::new(now)).is_some();
        assert!(other.join().unwrap() || unsent);
        let held = mine.reserve(Ask::new(now));
        assert!(held.is_some() && mine.reserve(Ask::new(now)).is_none());
    });
}

/// The thread that knows the time and the one that does not ask for it count in different steps,
/// or in one that is just being replaced.
#[test]
fn a_call_that_nobody_dated_is_counted_once() {
    for seconds in [0, 1, 10] {
        model(move || {
            let start = Instant::now();
            let later = start + Duration::from_secs(seconds);
            let budget = RatioBudget::new(Ratio::ONE);
            budget.on_call(start);
            let theirs = budget.clone();
            let other = thread::spawn(move || theirs.on_call(later));
            budget.on_success_at_once(&|| later);
            other.join().unwrap();
            let held = (0..4).map_while(|_| budget.reserve(Ask::new(later)));
            let held = held.collect::<Vec<_>>().len();
            match seconds {
                // The undated one may count as long gone.
                10 => assert!((1..=2).contains(&held), "{held}"),
                _ => assert_eq!(held, 3),
            }
        });
    }
}
