use std::sync::Arc;

use steadfast_core::Budget;
use steadfast_core::budget::{
    Ask, Ending, RateBudget, RatioBudget, RefundBudget, Sending, ThrottleBudget,
};
use tower::retry::budget;

use crate::clock;

/// One of our budgets, where tower wants its own `Budget`. Clones share it.
///
/// - A deposit counts as a call that succeeded at once, a withdrawal as an attempt that failed
///   and asks for a retry. So of a [`RatioBudget`] the withdrawals of the window are at most
///   ⌈ratio × deposits⌉, exact for every ratio and under threads, plus its minimum.
/// - tower's trait says neither whether a retry was sent nor how it went: a withdrawal is spent
///   for good, and a [`RefundBudget`] refunds nothing but by deposits.
/// - A `ConcurrencyBudget` cannot be one, because nobody would tell it that a retry has ended.
///
/// ```
/// use steadfast_core::Ratio;
/// use steadfast_core::budget::RatioBudget;
/// use steadfast_retry::tower_compat::TowerBudget;
/// use tower::retry::budget::Budget;
///
/// let budget = TowerBudget::from(RatioBudget::new(Ratio::percent(35)?));
/// (0..10).for_each(|_| budget.deposit());
/// assert_eq!((0..10).filter(|_| budget.withdraw()).count(), 4, "⌈0.35 × 10⌉");
/// # Ok::<(), steadfast_core::InvalidRatio>(())
/// ```
#[derive(Clone, Debug)]
pub struct TowerBudget(Arc<dyn Budget>);

impl budget::Budget for TowerBudget {
    fn deposit(&self) {
        let now = clock::now();
        self.0.on_call(now);
        self.0.on_outcome(Sending::First, Ending::Success, now);
    }

    fn withdraw(&self) -> bool {
        let now = clock::now();
        self.0.on_outcome(Sending::First, Ending::Failure, now);
        match self.0.reserve(Ask::new(now)) {
            Some(mut permit) => {
                permit.sent();
                true
            }
            None => false,
        }
    }
}

impl From<RatioBudget> for TowerBudget {
    fn from(budget: RatioBudget) -> Self {
        Self(Arc::new(budget))
    }
}

impl From<ThrottleBudget> for TowerBudget {
    fn from(budget: ThrottleBudget) -> Self {
        Self(Arc::new(budget))
    }
}

impl From<RefundBudget> for TowerBudget {
    fn from(budget: RefundBudget) -> Self {
        Self(Arc::new(budget))
    }
}

impl From<RateBudget> for TowerBudget {
    fn from(budget: RateBudget) -> Self {
        Self(Arc::new(budget))
    }
}
