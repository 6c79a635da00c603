//! When a circuit opens, for how long, and how it closes again: what the machine needs to know.

use std::num::NonZeroU32;
use std::time::Duration;

use steadfast_core::{Backoff, Ratio};

use super::Window;
use super::window::Span;

/// The part of a [`BreakerConfig`](super::BreakerConfig) that decides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rules {
    pub(super) window: Window,
    pub(super) failure_rate: Option<Ratio>,
    pub(super) consecutive: Option<NonZeroU32>,
    pub(super) slow: Option<SlowCalls>,
    pub(super) open: Backoff,
    pub(super) probes: NonZeroU32,
    pub(super) probe_lease: Duration,
}

/// Which calls are slow, and how many of them are too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SlowCalls {
    pub(super) longer_than: Duration,
    pub(super) rate: Ratio,
}

/// What was counted over the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) calls: u64,
    pub(super) failures: u64,
    pub(super) slow: u64,
    pub(super) in_a_row: u32,
}

/// What opened a circuit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tripped {
    pub(super) failures: u64,
    pub(super) calls: u64,
}

impl Rules {
    /// Whether these totals open the circuit.
    pub(super) fn trips(&self, totals: Totals) -> Option<Tripped> {
        let Totals {
            calls,
            failures,
            slow,
            in_a_row,
        } = totals;
        if self.consecutive.is_some_and(|most| in_a_row >= most.get()) {
            return Some(Tripped {
                failures: in_a_row.into(),
                calls: in_a_row.into(),
            });
        }
        if calls < self.window.minimum().get().into() {
            return None;
        }
        let above = |rate: Option<Ratio>, bad| {
            bad > 0 && rate.is_some_and(|rate| reaches(rate, bad, calls))
        };
        if above(self.failure_rate, failures) {
            return Some(Tripped { failures, calls });
        }
        let slow_rate = self.slow.map(|slow| slow.rate);
        above(slow_rate, slow).then_some(Tripped {
            failures: slow,
            calls,
        })
    }

    /// Whether what was counted by these rules can be counted on by those.
    pub(super) fn count_as(&self, other: &Self) -> bool {
        match (self.window.span(), other.window.span()) {
            (Span::Time(time), Span::Time(other)) => time == other,
            // Slow calls have their bits only where they are counted.
            (Span::Calls(calls), Span::Calls(of_other)) => {
                calls == of_other && self.slow.is_some() == other.slow.is_some()
            }
            _ => false,
        }
    }

    /// Whether a call that took so long is slow.
    pub(super) fn is_slow(&self, took: Duration) -> bool {
        self.slow.is_some_and(|slow| took >= slow.longer_than)
    }

    /// How long the circuit stays open for the `n`th time in a row, counted from 0: at least what
    /// the peer asked for, up to the cap.
    pub(super) fn open_for(&self, n: u32, last: Duration, hint: Duration, draw: f64) -> Duration {
        let drawn = self.open.wait(n, last, false, draw);
        drawn.max(hint.min(self.open.cap()))
    }
}

/// Whether `bad` of `calls` are at least this share. In 128 bits: exact.
fn reaches(rate: Ratio, bad: u64, calls: u64) -> bool {
    u128::from(bad) * 1_000_000 >= u128::from(rate.as_millionths()) * u128::from(calls)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

    use super::*;
    use crate::breaker::BreakerConfig;

    fn totals(calls: u64, failures: u64, slow: u64, in_a_row: u32) -> Totals {
        Totals {
            calls,
            failures,
            slow,
            in_a_row,
        }
    }

    #[test]
    fn the_rate_is_met_exactly_and_not_before_the_minimum() {
        let rules = BreakerConfig::default().rules;
        assert_eq!(rules.trips(totals(19, 19, 0, 0)), None);
        assert!(rules.trips(totals(20, 10, 0, 0)).is_some());
        assert_eq!(rules.trips(totals(20, 9, 20, 9)), None);
        assert_eq!(rules.trips(totals(21, 10, 0, 0)), None);
    }

    #[test]
    fn a_rate_of_nothing_needs_a_failure_still() {
        let rules = BreakerConfig::default()
            .with_failure_rate(Ratio::ZERO)
            .rules;
        assert_eq!(rules.trips(totals(100, 0, 0, 0)), None);
        assert!(rules.trips(totals(100, 1, 0, 0)).is_some());
    }

    #[test]
    fn failures_in_a_row_need_no_minimum() {
        let five = NonZeroU32::new(5).unwrap();
        let rules = BreakerConfig::default()
            .with_consecutive_failures(five)
            .rules;
        assert_eq!(rules.trips(totals(4, 4, 0, 4)), None);
        let tripped = rules.trips(totals(5, 5, 0, 5));
        assert_eq!(
            tripped,
            Some(Tripped {
                failures: 5,
                calls: 5
            })
        );
    }

    #[test]
    fn slow_calls_have_a_rate_of_their_own() {
        let second = Duration::from_secs(1);
        let rules = BreakerConfig::default()
            .with_slow_calls(second, Ratio::percent(80).unwrap())
            .rules;
        assert!(rules.is_slow(second));
        assert!(!rules.is_slow(second - Duration::from_nanos(1)));
        assert_eq!(rules.trips(totals(20, 0, 15, 0)), None);
        assert!(rules.trips(totals(20, 0, 16, 0)).is_some());
    }

    #[test]
    fn the_open_time_grows_to_its_cap_and_a_hint_does_not_pass_it() {
        let rules = BreakerConfig::default().rules;
        let wait = |n, hint| rules.open_for(n, Duration::ZERO, hint, 0.5);
        assert_eq!(wait(0, Duration::ZERO), Duration::from_secs(5));
        assert_eq!(wait(1, Duration::ZERO), Duration::from_secs(10));
        assert_eq!(wait(60, Duration::ZERO), Duration::from_secs(60));
        assert_eq!(wait(0, Duration::from_secs(30)), Duration::from_secs(30));
        assert_eq!(wait(0, Duration::MAX), Duration::from_secs(60));
    }
}
