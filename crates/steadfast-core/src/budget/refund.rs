use std::sync::Arc;
use std::time::Instant;

use super::{Ask, Budget, Ending, Permit, Sending, Settle, Used, open_to};
use crate::Ratio;
use crate::sync::atomic::{AtomicU32, Ordering};

/// Tokens at the start and at most: 500, as in the AWS SDKs' standard mode.
pub const DEFAULT_CAPACITY: u32 = 500;
/// The price of a retry after a transient fault: 14, as in their revision of 2026.
pub const DEFAULT_TRANSIENT_COST: u32 = 14;
/// The price of a retry after the peer said that it is overloaded: 5, as there. Lower, because
/// such an answer costs the peer little and the wait is longer.
pub const DEFAULT_THROTTLED_COST: u32 = 5;

/// A retry that worked is refunded (AWS SDKs, standard mode 2.1): full help against random
/// failures, next to none in an outage.
///
/// A retry costs tokens; a success after a retry returns that cost, a success at once earns one
/// token, a failure returns nothing.
///
/// Bound: with `c` the cost of a retry, `retries that fail ≤ (capacity + successes at once) / c`;
/// an outage gets `⌊capacity / c⌋` retries and then none. With a share `p` of random failures and
/// three attempts it helps in full while `c·p²(1 + p) ≤ 1 − p`: up to p = 0.21 for a cost of 14.
/// A reserve keeps a share of the capacity for critical calls; sheddable ones leave half to the
/// others. A retry that asks for a [share](Ask::share) costs `⌈c / share⌉`.
///
/// ```
/// use steadfast_core::budget::RefundBudget;
///
/// let budget = RefundBudget::default();
/// assert_eq!((budget.capacity(), budget.transient_cost(), budget.throttled_cost()), (500, 14, 5));
/// ```
#[derive(Clone, Debug)]
pub struct RefundBudget(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    capacity: u32,
    transient: u32,
    throttled: u32,
    reserve: Ratio,
    tokens: AtomicU32,
}

impl Default for RefundBudget {
    fn default() -> Self {
        Self::new(DEFAULT_CAPACITY)
    }
}

impl RefundBudget {
    /// A budget of so many tokens, with the default costs.
    pub fn new(capacity: u32) -> Self {
        let (transient, throttled) = (DEFAULT_TRANSIENT_COST, DEFAULT_THROTTLED_COST);
        Self::with_parts(capacity, transient, throttled, Ratio::ZERO)
    }

    /// The same capacity with other costs of a retry; zero counts as one. Starts full.
    #[must_use]
    pub fn with_costs(self, transient: u32, throttled: u32) -> Self {
        Self::with_parts(self.0.capacity, transient, throttled, self.0.reserve)
    }

    /// The same, with this share of the capacity kept for critical calls. Default: nothing.
    /// Starts full.
    #[must_use]
    pub fn with_reserve(self, reserve: Ratio) -> Self {
        let Shared {
            capacity,
            transient,
            throttled,
            ..
        } = *self.0;
        Self::with_parts(capacity, transient, throttled, reserve)
    }

    fn with_parts(capacity: u32, transient: u32, throttled: u32, reserve: Ratio) -> Self {
        let (transient, throttled) = (transient.max(1), throttled.max(1));
        let tokens = AtomicU32::new(capacity);
        Self(Arc::new(Shared {
            capacity,
            transient,
            throttled,
            reserve,
            tokens,
        }))
    }

    /// Tokens at the start and at most.
    pub fn capacity(&self) -> u32 {
        self.0.capacity
    }

    /// The price of a retry after a transient fault.
    pub fn transient_cost(&self) -> u32 {
        self.0.transient
    }

    /// The price of a retry after the peer said that it is overloaded.
    pub fn throttled_cost(&self) -> u32 {
        self.0.throttled
    }
}

impl Budget for RefundBudget {
    fn on_call(&self, _: Instant) {}

    fn on_success_at_once(&self, _: &dyn Fn() -> Instant) {
        self.0.add(1);
    }

    fn on_outcome(&self, sending: Sending, ending: Ending, _: Instant) {
        if (sending, ending) == (Sending::First, Ending::Success) {
            self.0.add(1);
        }
    }

    fn reserve(&self, ask: Ask) -> Option<Permit> {
        let Shared {
            capacity,
            transient,
            throttled,
            reserve,
            tokens,
        } = &*self.0;
        let cost = if ask.throttled {
            *throttled
        } else {
            *transient
        };
        let cost = u32::try_from(ask.cost_of(cost.into())?).ok()?;
        // What less critical calls leave to the others.
        let open = open_to(ask.criticality, (*capacity).into(), *reserve);
        let kept = capacity - open as u32;
        let pay = |now: u32| now.checked_sub(cost).filter(|left| *left >= kept);
        tokens
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, pay)
            .ok()?;
        Some(Permit::new(self.0.clone(), cost.into()))
    }
}

impl Settle for Shared {
    fn settle(&self, cost: u64, used: Used) {
        match used {
            Used::Unsent | Used::Succeeded => self.add(cost as u32),
            Used::Sent => {}
        }
    }
}

impl Shared {
    fn add(&self, earned: u32) {
        let full = |now: u32| {
            (now != self.capacity).then(|| now.saturating_add(earned).min(self.capacity))
        };
        // Refused when nothing would change: the success path of a full budget writes nothing.
        let _ = self
            .tokens
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, full);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "an arbitrary instant")]

    use super::super::tests::spend_all;
    use super::*;
    use crate::Criticality;

    fn tokens(budget: &RefundBudget) -> u32 {
        budget.0.tokens.load(Ordering::Relaxed)
    }

    #[test]
    fn an_outage_gets_one_burst_and_then_nothing() {
        let budget = RefundBudget::default();
        let now = Instant::now();
        assert_eq!(spend_all(&budget, now), 35);
        for _ in 0..14 {
            budget.on_outcome(Sending::First, Ending::Failure, now);
            budget.on_outcome(Sending::Retry, Ending::Success, now);
        }
        assert_eq!(
            spend_all(&budget, now),
            0,
            "failures and retried successes earn nothing"
        );
        (0..4).for_each(|_| budget.on_outcome(Sending::First, Ending::Success, now));
        assert_eq!(spend_all(&budget, now), 1, "10 were left over");
    }

    #[test]
    fn a_retry_that_worked_is_refunded_and_one_that_was_not_sent_too() {
        let budget = RefundBudget::new(28);
        let now = Instant::now();
        for _ in 0..100 {
            let mut permit = budget.reserve(Ask::new(now)).unwrap();
            permit.sent();
            permit.succeeded();
            drop(budget.reserve(Ask::new(now)).unwrap());
        }
        assert_eq!(tokens(&budget), 28);
        let throttled = Ask {
            throttled: true,
            ..Ask::new(now)
        };
        budget.reserve(throttled).unwrap().sent();
        assert_eq!(tokens(&budget), 23);
        let low = Ask {
            criticality: Criticality::Sheddable,
            ..Ask::new(now)
        };
        assert!(budget.reserve(low).is_none(), "9 left would be below half");
    }

    #[test]
    fn of_a_share_a_retry_costs_as_much_more() {
        let ask = |percent| Ask {
            share: Ratio::percent(percent).unwrap(),
            ..Ask::new(Instant::now())
        };
        for (percent, retries) in [
            (100, 35),
            (200, 35),
            (50, 17),
            (33, 11),
            (3, 1),
            (2, 0),
            (0, 0),
        ] {
            let budget = RefundBudget::default();
            let sent =
                std::iter::from_fn(|| budget.reserve(ask(percent)).map(|mut permit| permit.sent()));
            assert_eq!(sent.count(), retries, "{percent}%");
        }
        let budget = RefundBudget::default();
        drop(budget.reserve(ask(50)).unwrap());
        budget.reserve(ask(50)).unwrap().succeeded();
        assert_eq!(tokens(&budget), 500, "what it cost returns");
    }

    #[test]
    fn the_largest_capacity_does_not_overflow() {
        let budget = RefundBudget::new(u32::MAX);
        let now = Instant::now();
        let held = budget.reserve(Ask::new(now)).unwrap();
        budget.on_outcome(Sending::First, Ending::Success, now);
        drop(held);
        assert_eq!(tokens(&budget), u32::MAX);
    }

    /// Concurrent operations that retry and succeed leave the budget full.
    #[test]
    fn no_refund_is_lost_under_threads() {
        let budget = RefundBudget::default();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..2_000 {
                        let now = Instant::now();
                        let mut permit = budget.reserve(Ask::new(now)).unwrap();
                        permit.sent();
                        permit.succeeded();
                        budget.on_outcome(Sending::First, Ending::Success, now);
                    }
                });
            }
        });
        assert_eq!(tokens(&budget), 500);
    }
}
