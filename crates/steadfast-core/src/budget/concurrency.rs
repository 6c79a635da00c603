use std::sync::Arc;
use std::time::Instant;

use super::{Ask, Budget, Ending, Permit, Sending, Settle, Used, open_to};
use crate::Ratio;
use crate::sync::atomic::{AtomicU64, Ordering};

/// Retries per attempt in flight: 20%, as in Envoy.
pub const DEFAULT_CONCURRENCY_RATIO: Ratio = Ratio::from_millionths(200_000);
/// Retries in flight that are allowed in any case: 3, as in Envoy.
pub const DEFAULT_CONCURRENCY_MINIMUM: u32 = 3;

/// Retries in flight are at most a share of all attempts in flight (Envoy's retry budget).
///
/// A retry counts from its reservation, before the wait, to its end. Bound: at every reservation
/// `retries ≤ max(⌈ratio × (first attempts + retries)⌉, minimum)`, all in flight. Sheddable calls
/// may use half of that, and retries that ask for a [share](Ask::share) that share, rounded up.
///
/// ```
/// use steadfast_core::Ratio;
/// use steadfast_core::budget::ConcurrencyBudget;
///
/// let budget = ConcurrencyBudget::default();
/// assert_eq!(budget.ratio(), Ratio::percent(20)?);
/// assert_eq!(budget.minimum(), 3);
/// # Ok::<(), steadfast_core::InvalidRatio>(())
/// ```
#[derive(Clone, Debug)]
pub struct ConcurrencyBudget(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    ratio: Ratio,
    minimum: u32,
    /// First attempts in the upper half, retries in the lower: one word, so that they agree.
    in_flight: AtomicU64,
}

const ONE_FIRST: u64 = 1 << 32;
const ONE_RETRY: u64 = 1;

impl Default for ConcurrencyBudget {
    fn default() -> Self {
        Self::new(DEFAULT_CONCURRENCY_RATIO, DEFAULT_CONCURRENCY_MINIMUM)
    }
}

impl ConcurrencyBudget {
    /// A budget of this many retries per attempt in flight, and of `minimum` in any case.
    pub fn new(ratio: Ratio, minimum: u32) -> Self {
        Self(Arc::new(Shared {
            ratio,
            minimum,
            in_flight: AtomicU64::new(0),
        }))
    }

    /// Retries per attempt in flight.
    pub fn ratio(&self) -> Ratio {
        self.0.ratio
    }

    /// Retries in flight that are allowed in any case.
    pub fn minimum(&self) -> u32 {
        self.0.minimum
    }
}

impl Budget for ConcurrencyBudget {
    fn on_call(&self, _: Instant) {
        self.0.in_flight.fetch_add(ONE_FIRST, Ordering::Relaxed);
    }

    /// It is in flight no longer.
    fn on_success_at_once(&self, _: &dyn Fn() -> Instant) {}

    fn on_outcome(&self, sending: Sending, _: Ending, _: Instant) {
        if sending == Sending::First {
            self.0.in_flight.fetch_sub(ONE_FIRST, Ordering::Relaxed);
        }
    }

    fn reserve(&self, ask: Ask) -> Option<Permit> {
        let Shared {
            ratio,
            minimum,
            in_flight,
        } = &*self.0;
        let one_more = |now: u64| {
            let (firsts, retries) = (now >> 32, now & u64::from(u32::MAX));
            let limit = ratio.ceil_of(firsts + retries).max((*minimum).into());
            let limit = open_to(ask.criticality, ask.share_of(limit), Ratio::ZERO);
            (retries < limit && retries < u64::from(u32::MAX)).then_some(now + ONE_RETRY)
        };
        in_flight
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more)
            .ok()?;
        Some(Permit::new(self.0.clone(), 0))
    }
}

impl Settle for Shared {
    fn settle(&self, _: u64, _: Used) {
        self.in_flight.fetch_sub(ONE_RETRY, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "an arbitrary instant")]

    use super::*;

    #[test]
    fn retries_in_flight_are_a_share_of_all_and_return_when_they_end() {
        let budget = ConcurrencyBudget::default();
        let now = Instant::now();
        let held = |n: usize| -> Vec<_> {
            std::iter::from_fn(|| budget.reserve(Ask::new(now)))
                .take(n)
                .collect()
        };
        let three = held(10);
        assert_eq!(three.len(), 3, "the minimum");
        (0..37).for_each(|_| budget.on_call(now));
        let more = held(100);
        assert_eq!(
            three.len() + more.len(),
            10,
            "⌈0.2 × (37 + 9)⌉ = 10 stops at 10"
        );
        drop(more);
        (0..37).for_each(|_| budget.on_outcome(Sending::First, Ending::Success, now));
        assert!(budget.reserve(Ask::new(now)).is_none());
        drop(three);
        assert_eq!(held(10).len(), 3);
    }

    #[test]
    fn no_count_is_lost_under_threads() {
        let budget = ConcurrencyBudget::default();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..5_000 {
                        let now = Instant::now();
                        budget.on_call(now);
                        let permit = budget.reserve(Ask::new(now));
                        budget.on_outcome(Sending::First, Ending::Neither, now);
                        drop(permit);
                    }
                });
            }
        });
        assert_eq!(budget.0.in_flight.load(Ordering::Relaxed), 0);
    }
}
