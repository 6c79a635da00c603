#![allow(
    clippy::disallowed_methods,
    reason = "an arbitrary instant to count from"
)]

use proptest::prelude::*;

use super::super::tests::spend_all;
use super::*;
use crate::Criticality;

mod undated;

fn percent(percent: u32) -> Ratio {
    Ratio::percent(percent).unwrap()
}

/// O-25: percentages that are not 1/n.
#[test]
fn ten_calls_allow_exactly_the_ceiling_of_the_ratio() {
    for (ratio, want) in [
        (0.1, 1),
        (0.15, 2),
        (0.34, 4),
        (0.6, 6),
        (0.75, 8),
        (0.9, 9),
        (1.0, 10),
        (1.5, 15),
    ] {
        let budget = RatioBudget::new(Ratio::try_from(ratio).unwrap());
        let now = Instant::now();
        (0..10).for_each(|_| budget.on_call(now));
        assert_eq!(spend_all(&budget, now), want, "{ratio}");
    }
}

#[test]
fn never_above_the_bound_under_threads() {
    for ratio in [percent(15), percent(60), percent(150)] {
        let budget = RatioBudget::new(ratio);
        let now = Instant::now();
        let spent: u64 = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        let mut spent = 0;
                        for _ in 0..5_000 {
                            budget.on_call(now);
                            if let Some(mut permit) = budget.reserve(Ask::new(now)) {
                                permit.sent();
                                spent += 1;
                            }
                            drop(budget.reserve(Ask::new(now)));
                        }
                        spent
                    })
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .sum()
        });
        let bound = ratio.ceil_of(20_000);
        assert!(spent <= bound, "{spent} > {bound}");
        assert_eq!(
            spent + spend_all(&budget, now),
            bound,
            "nothing is lost either"
        );
    }
}

/// Sends retries of a share of the budget until that is spent.
fn spend_share(budget: &RatioBudget, now: Instant, share: Ratio) -> u64 {
    let ask = Ask {
        share,
        ..Ask::new(now)
    };
    let sent = std::iter::from_fn(|| budget.reserve(ask).map(|mut permit| permit.sent()));
    sent.count() as u64
}

#[test]
fn a_share_leaves_the_rest_to_others() {
    for (share, want) in [(100, 10), (50, 5), (25, 3), (1, 1), (0, 0), (150, 10)] {
        let budget = RatioBudget::new(percent(10));
        let now = Instant::now();
        (0..100).for_each(|_| budget.on_call(now));
        assert_eq!(spend_share(&budget, now, percent(share)), want, "{share}%");
        assert_eq!(want + spend_all(&budget, now), 10, "{share}%");
    }
    let floor = RatioBudget::new(Ratio::ZERO).with_minimum_per_second(Ratio::ONE);
    assert_eq!(spend_share(&floor, Instant::now(), percent(50)), 5);
}

proptest! {
    /// Each hop has a budget of its own and counts the same calls: what arrives there as a retry
    /// is no call.
    #[test]
    fn shares_of_one_whole_send_at_most_one_retry_more_for_each_further_hop(
        millionths in 0..3_000_000u32, calls in 1..500u64, cuts in proptest::collection::vec(0..=100u32, 0..4),
    ) {
        let mut cuts = cuts;
        cuts.extend([0, 100]);
        cuts.sort_unstable();
        let ratio = Ratio::from_millionths(millionths);
        let now = Instant::now();
        let sent: u64 = cuts.windows(2).map(|cut| {
            let budget = RatioBudget::new(ratio);
            (0..calls).for_each(|_| budget.on_call(now));
            spend_share(&budget, now, percent(cut[1] - cut[0]))
        }).sum();
        let further = cuts.len() as u64 - 2;
        prop_assert!(sent <= ratio.ceil_of(calls) + further, "{sent}");
    }
}

#[test]
fn calls_and_retries_leave_the_window_together() {
    let budget = RatioBudget::new(percent(50));
    let start = Instant::now();
    (0..10).for_each(|_| budget.on_call(start));
    assert_eq!(spend_all(&budget, start), 5);
    let later = start + Duration::from_secs(9);
    assert_eq!(spend_all(&budget, later), 0);
    (0..4).for_each(|_| budget.on_call(later));
    assert_eq!(spend_all(&budget, later), 2);
    let gone = start + Duration::from_secs(10);
    assert_eq!(
        spend_all(&budget, gone),
        0,
        "4 calls and 2 retries are left"
    );
    budget.on_call(gone);
    assert_eq!(spend_all(&budget, gone), 1);
}

#[test]
fn alive_after_a_long_idle_time() {
    let budget = RatioBudget::new(percent(10));
    let start = Instant::now();
    (0..100).for_each(|_| budget.on_call(start));
    assert_eq!(spend_all(&budget, start), 10);
    for idle in [60, 86_400, 30 * 86_400, 4_000_000_000] {
        let now = start + Duration::from_secs(idle);
        assert_eq!(
            spend_all(&budget, now),
            1,
            "the call that asks, after {idle} s"
        );
        (0..100).for_each(|_| budget.on_call(now));
        assert_eq!(spend_all(&budget, now), 9, "after {idle} s");
    }
}

/// Two requests a minute: seed A's low-volume client.
#[test]
fn a_small_client_gets_its_retries_from_the_floor() {
    let floor = RatioBudget::new(percent(10)).with_minimum_per_second(percent(20));
    let start = Instant::now();
    for request in 0..20 {
        let now = start + Duration::from_secs(30) * request;
        floor.on_call(now);
        assert_eq!(spend_all(&floor, now), 2, "0.2 per second over 10 s");
    }
    let none = RatioBudget::new(percent(10)).with_minimum_per_second(Ratio::ZERO);
    none.on_call(start);
    assert_eq!(spend_all(&none, start), 1, "0 < 0.1 × 1");
}

#[test]
fn a_permit_dropped_unspent_gives_its_cost_back_once() {
    let budget = RatioBudget::new(Ratio::ONE);
    let start = Instant::now();
    (0..5).for_each(|_| budget.on_call(start));
    for _ in 0..50 {
        drop(budget.reserve(Ask::new(start)).unwrap());
    }
    let held: Vec<_> = (0..5)
        .map(|_| budget.reserve(Ask::new(start)).unwrap())
        .collect();
    assert!(budget.reserve(Ask::new(start)).is_none());
    drop(held);
    assert_eq!(spend_all(&budget, start), 5);
    // Given back after its step left the window: nothing to return to.
    let later = start + Duration::from_secs(60);
    budget.on_call(later);
    let stale = budget.reserve(Ask::new(later)).unwrap();
    let much_later = later + Duration::from_secs(10);
    budget.on_call(much_later);
    budget.reserve(Ask::new(much_later)).unwrap().sent();
    drop(stale);
    assert!(budget.reserve(Ask::new(much_later)).is_none());
}

#[test]
fn extreme_settings_neither_panic_nor_spin() {
    let now = Instant::now();
    let most = Ratio::from_millionths(u32::MAX);
    for window in [Duration::ZERO, Duration::MAX] {
        let budget = RatioBudget::new(most)
            .with_window(window)
            .with_minimum_per_second(most);
        budget.on_call(now);
        budget.reserve(Ask::new(now)).unwrap().sent();
    }
    assert_eq!(
        RatioBudget::default()
            .with_window(Duration::ZERO)
            .window()
            .as_millis(),
        100
    );
    assert_eq!(spend_all(&RatioBudget::new(Ratio::ZERO), now), 0);
}

proptest! {
    #[test]
    fn retries_of_a_window_never_exceed_its_bound(
        millionths in 0..3_000_000u32,
        steps in proptest::collection::vec((0..4000u64, 0..20u32), 1..60),
    ) {
        let ratio = Ratio::from_millionths(millionths);
        let budget = RatioBudget::new(ratio);
        let start = Instant::now();
        // The first reading of the clock is where the steps begin.
        drop(budget.reserve(Ask::new(start)));
        let (mut at, mut calls, mut retries) = (0, Vec::new(), Vec::new());
        for (advance_ms, new_calls) in steps {
            at += advance_ms;
            let now = start + Duration::from_millis(at);
            for _ in 0..new_calls {
                budget.on_call(now);
                calls.push(at / 1000);
            }
            let spent = spend_all(&budget, now);
            retries.extend(std::iter::repeat_n(at / 1000, spent as usize));
            let first = (at / 1000).saturating_sub(STEPS as u64 - 1);
            let in_window = |all: &[u64]| all.iter().filter(|t| **t >= first).count() as u64;
            prop_assert!(
                in_window(&retries) <= ratio.ceil_of(in_window(&calls).max(1)) || spent == 0
            );
        }
    }
}

#[test]
fn sheddable_calls_lose_first_and_calls_that_were_refused_earn_nothing() {
    let budget = RatioBudget::new(Ratio::ONE);
    let now = Instant::now();
    let low = Ask {
        criticality: Criticality::Sheddable,
        ..Ask::new(now)
    };
    for _ in 0..8 {
        budget.on_call(now);
        budget.on_call(now);
        budget.on_outcome(Sending::First, Ending::NotSent, now);
        budget.on_outcome(Sending::First, Ending::Failure, now);
        budget.on_outcome(Sending::Retry, Ending::NotSent, now);
    }
    let spent = std::iter::from_fn(|| budget.reserve(low).map(|mut permit| permit.sent()));
    assert_eq!(spent.count(), 4);
    assert_eq!(spend_all(&budget, now), 4);
}

/// An attempt that took longer than the window may be repeated all the same.
#[test]
fn the_call_that_asks_counts_however_long_ago_it_began() {
    let budget = RatioBudget::default();
    let start = Instant::now();
    budget.on_call(start);
    let late = start + Duration::from_secs(60);
    assert_eq!(spend_all(&budget, late), 1);
}

#[test]
fn a_reserve_is_there_for_critical_calls_only() {
    let budget = RatioBudget::new(Ratio::ONE).with_reserve(percent(25));
    let now = Instant::now();
    (0..8).for_each(|_| budget.on_call(now));
    assert_eq!(spend_all(&budget, now), 6, "of a normal one");
    let critical = Ask {
        criticality: Criticality::Critical,
        ..Ask::new(now)
    };
    let rest = std::iter::from_fn(|| budget.reserve(critical).map(|mut permit| permit.sent()));
    assert_eq!(rest.count(), 2);
}
