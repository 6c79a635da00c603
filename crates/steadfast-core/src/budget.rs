//! What caps retries in aggregate.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

mod ratio;
mod throttle;

pub use ratio::{DEFAULT_RATIO, DEFAULT_WINDOW, RatioBudget};
pub use throttle::{DEFAULT_MAX_TOKENS, DEFAULT_TOKEN_RATIO, InvalidThrottle, ThrottleBudget};

/// Caps the retries of many calls together.
///
/// A value is a handle: clones share one budget, so several stacks can be given the same.
/// `now` comes from the caller's clock and may go back a little between threads.
pub trait Budget: fmt::Debug + Send + Sync + 'static {
    /// A call begins: its first attempt is about to be sent.
    fn on_call(&self, now: Instant);

    /// An attempt ended. Answers that neither succeed nor could be repeated are not told.
    fn on_outcome(&self, sending: Sending, ending: Ending, now: Instant);

    /// Asks for the price of one retry; `None` when the budget is spent.
    ///
    /// A [`Permit`] that is dropped before it is [spent](Permit::spend) gives the cost back.
    fn reserve(&self, cost: u32, now: Instant) -> Option<Permit>;
}

/// Which sending of a call an outcome belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sending {
    /// The first attempt.
    First,
    /// Any later one.
    Retry,
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// With the answer that was wanted.
    Success,
    /// With a failure that a repeat may cure.
    Failure,
}

/// The right to send one retry. Dropped unspent, its cost returns to the budget, exactly once.
#[must_use = "a permit that is dropped gives its cost back"]
pub struct Permit(Option<Reserved>);

struct Reserved {
    budget: Arc<dyn GiveBack>,
    cost: u32,
    token: u64,
}

/// A budget that takes an unspent cost back.
pub(crate) trait GiveBack: Send + Sync {
    fn give_back(&self, cost: u32, token: u64);
}

impl Permit {
    /// A permit that costs nothing.
    pub const fn free() -> Self {
        Self(None)
    }

    pub(crate) fn new(budget: Arc<dyn GiveBack>, cost: u32, token: u64) -> Self {
        Self(Some(Reserved {
            budget,
            cost,
            token,
        }))
    }

    /// The retry is sent: the cost is not returned.
    pub fn spend(mut self) {
        self.0 = None;
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(Reserved {
            budget,
            cost,
            token,
        }) = self.0.take()
        {
            budget.give_back(cost, token);
        }
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(Reserved { cost, .. }) => f.debug_tuple("Permit").field(cost).finish(),
            None => f.write_str("Permit(free)"),
        }
    }
}
