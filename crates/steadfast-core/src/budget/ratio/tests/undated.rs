//! Calls that are counted without a reading of the clock.

use super::*;

proptest! {
    /// By the bound they never count too long, and so few of them too short that it is no loss.
    #[test]
    fn calls_that_nobody_dated_count_as_calls_of_the_window(
        millionths in 0..3_000_000u32,
        steps in proptest::collection::vec((0..4000u64, 0..20u32, 0..70u32, any::<bool>()), 1..60),
    ) {
        let ratio = Ratio::from_millionths(millionths);
        let budget = RatioBudget::new(ratio);
        let start = Instant::now();
        let (mut at, mut calls, mut retries) = (0, Vec::new(), Vec::new());
        for (advance_ms, dated, undated, spends) in steps {
            at += advance_ms;
            let now = start + Duration::from_millis(at);
            if calls.is_empty() {
                // The first reading of the clock is where the steps begin.
                drop(budget.reserve(Ask::new(start)));
            }
            (0..dated).for_each(|_| budget.on_call(now));
            (0..undated).for_each(|_| budget.on_success_at_once(&|| now));
            calls.extend((0..dated + undated).map(|_| at / 1000));
            let first = (at / 1000).saturating_sub(STEPS as u64 - 1);
            let in_window = |all: &[u64]| all.iter().filter(|t| **t >= first).count() as u64;
            let seen = budget.0.calls.total(budget.0.steps.at(now));
            prop_assert!(seen <= in_window(&calls), "{seen}");
            prop_assert!(seen + u64::from(UNDATED) >= in_window(&calls), "{seen}");
            if spends {
                let spent = spend_all(&budget, now);
                retries.extend(std::iter::repeat_n(at / 1000, spent as usize));
                let bound = ratio.ceil_of(in_window(&calls).max(1));
                prop_assert!(in_window(&retries) <= bound || spent == 0);
            }
        }
    }
}

#[test]
fn the_clock_is_read_for_the_first_call_and_for_one_in_sixteen() {
    let budget = RatioBudget::default();
    let now = Instant::now();
    let read = std::cell::Cell::new(0);
    let clock = || {
        read.set(read.get() + 1);
        now
    };
    (0..160).for_each(|_| budget.on_success_at_once(&clock));
    assert_eq!(read.get(), 11);
    assert_eq!(spend_all(&budget, now), 16, "⌈0.1 × 160⌉");
}

/// Long ago is not now, also before the first reading of the clock.
#[test]
fn calls_before_a_long_idle_time_earn_nothing_after_it() {
    let budget = RatioBudget::new(Ratio::ONE);
    let start = Instant::now();
    (0..15).for_each(|_| budget.on_success_at_once(&|| start));
    let later = start + Duration::from_secs(3_600);
    assert_eq!(spend_all(&budget, later), 1, "the call that asks");
}

#[test]
fn no_undated_call_is_lost_under_threads() {
    let budget = RatioBudget::new(Ratio::ONE);
    let now = Instant::now();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let budget = &budget;
            scope.spawn(move || {
                for call in 0..5_000 {
                    match (call + thread) % 3 {
                        0 => budget.on_call(now),
                        _ => budget.on_success_at_once(&|| now),
                    }
                }
            });
        }
    });
    assert_eq!(spend_all(&budget, now), 20_000);
}
