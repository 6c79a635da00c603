//! What caps retries in aggregate.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use crate::{Criticality, Ratio};

mod capped;
mod concurrency;
mod keyed;
mod rate;
mod ratio;
mod refund;
mod throttle;

pub use concurrency::{ConcurrencyBudget, DEFAULT_CONCURRENCY_MINIMUM, DEFAULT_CONCURRENCY_RATIO};
pub use keyed::{BudgetFor, KeyedBudget, Target};
pub use rate::{DEFAULT_RATE, DEFAULT_RATE_INTERVAL, RateBudget};
pub use ratio::{DEFAULT_RATIO, DEFAULT_WINDOW, RatioBudget};
pub use refund::{DEFAULT_CAPACITY, DEFAULT_THROTTLED_COST, DEFAULT_TRANSIENT_COST, RefundBudget};
pub use throttle::{DEFAULT_MAX_TOKENS, DEFAULT_TOKEN_RATIO, InvalidThrottle, ThrottleBudget};

/// Caps the retries of many calls together.
///
/// A value is a handle: clones share one budget, so several stacks can be given the same.
/// `now` comes from the caller's clock. Of a reservation it is the present, and may go back a
/// little between threads; of a call and its outcomes it is when the call began.
///
/// The compiler says of anything else "`&str` is not a retry budget", and which there are:
///
/// ```compile_fail
/// fn cap(_: impl steadfast_core::Budget) {}
/// cap("ten percent");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a retry budget",
    label = "not a `Budget`",
    note = "budgets are `RatioBudget` (the default), `ThrottleBudget`, `ConcurrencyBudget`, \
            `RefundBudget` and `RateBudget` of `steadfast_core::budget`; one of your own is also \
            `Debug`, `Send`, `Sync` and `'static`"
)]
pub trait Budget: fmt::Debug + Send + Sync + 'static {
    /// A call's first attempt goes out.
    fn on_call(&self, now: Instant);

    /// A call went out and its first attempt brought the answer that was wanted, all before
    /// anybody had to wait for it, or to know the time: told instead of [`on_call`](Self::on_call)
    /// and [`on_outcome`](Self::on_outcome). By default it reads the clock and tells these; a
    /// budget that can do without the time saves the reading.
    fn on_success_at_once(&self, clock: &dyn Fn() -> Instant) {
        let now = clock();
        self.on_call(now);
        self.on_outcome(Sending::First, Ending::Success, now);
    }

    /// An attempt ended. Told exactly once for each attempt that went out.
    fn on_outcome(&self, sending: Sending, ending: Ending, now: Instant);

    /// Asks for the right to send one retry; `None` when the budget is spent.
    fn reserve(&self, ask: Ask) -> Option<Permit>;
}

/// A budget whose kind is known at run time only.
impl Budget for Arc<dyn Budget> {
    fn on_call(&self, now: Instant) {
        (**self).on_call(now);
    }

    fn on_success_at_once(&self, clock: &dyn Fn() -> Instant) {
        (**self).on_success_at_once(clock);
    }

    fn on_outcome(&self, sending: Sending, ending: Ending, now: Instant) {
        (**self).on_outcome(sending, ending, now);
    }

    fn reserve(&self, ask: Ask) -> Option<Permit> {
        (**self).reserve(ask)
    }
}

/// What of a limit is there for a call that matters so much: all of it for a critical one, all
/// but the reserve for a normal one, half of that for one that may be shed.
pub(crate) fn open_to(criticality: Criticality, limit: u64, reserve: Ratio) -> u64 {
    // Rounded down: a reserve takes nothing from a limit that is too small to share.
    let reserved = match reserve {
        Ratio::ZERO => 0,
        _ => u128::from(limit) * u128::from(reserve.min(Ratio::ONE).as_millionths()) / 1_000_000,
    };
    let normal = limit - reserved as u64;
    match criticality {
        Criticality::Critical => limit,
        Criticality::Normal => normal,
        Criticality::Sheddable => normal / 2,
    }
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
    /// In a way that says nothing about how the peer is doing: its final no, or a caller who
    /// left.
    Neither,
    /// A layer of ours refused it: nothing was sent.
    NotSent,
}

/// What a retry is asked for.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Ask {
    /// The present.
    pub now: Instant,
    /// Whether the peer said that it is overloaded.
    pub throttled: bool,
    /// How much the call matters.
    pub criticality: Criticality,
    /// How much of the budget is there for this retry: all of it, unless the rest is left to
    /// another hop. A budget that does not look at it is not shared.
    pub share: Ratio,
}

impl Ask {
    /// For a retry of normal criticality after a transient fault, of an undivided budget.
    pub const fn new(now: Instant) -> Self {
        Self {
            now,
            throttled: false,
            criticality: Criticality::Normal,
            share: Ratio::ONE,
        }
    }

    /// What of a limit is there for it, rounded up: a quiet client keeps its one retry.
    pub(crate) fn share_of(&self, limit: u64) -> u64 {
        self.share.min(Ratio::ONE).ceil_of(limit)
    }

    /// What costs so much of the whole, of a share: rounded up, and nothing where there is none.
    pub(crate) fn cost_of(&self, cost: u64) -> Option<u64> {
        let share = u64::from(self.share.min(Ratio::ONE).as_millionths());
        let dearer = cost.checked_mul(Ratio::ONE.as_millionths().into())?;
        (share > 0).then(|| dearer.div_ceil(share))
    }
}

/// The right to send one retry, held from the decision to the retry's end.
///
/// Dropped before it was [sent](Self::sent), its cost returns to the budget, exactly once.
#[must_use = "a permit that is dropped gives its cost back"]
pub struct Permit(Option<Reserved>);

struct Reserved {
    budget: Arc<dyn Settle>,
    token: u64,
    used: Used,
}

/// What became of a permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Used {
    /// The retry was never sent.
    Unsent,
    /// It was sent, and ended in some other way than by success.
    Sent,
    /// It was sent and succeeded.
    Succeeded,
}

/// A budget that learns what became of its permits, each exactly once.
pub(crate) trait Settle: Send + Sync {
    fn settle(&self, token: u64, used: Used);
}

impl Permit {
    /// A permit that costs nothing.
    pub const fn free() -> Self {
        Self(None)
    }

    pub(crate) fn new(budget: Arc<dyn Settle>, token: u64) -> Self {
        Self(Some(Reserved {
            budget,
            token,
            used: Used::Unsent,
        }))
    }

    /// The retry goes out; keep the permit until it has ended.
    pub fn sent(&mut self) {
        if let Some(reserved) = &mut self.0 {
            reserved.used = Used::Sent;
        }
    }

    /// The retry brought the answer that was wanted.
    pub fn succeeded(mut self) {
        if let Some(reserved) = &mut self.0 {
            reserved.used = Used::Succeeded;
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(Reserved {
            budget,
            token,
            used,
        }) = self.0.take()
        {
            budget.settle(token, used);
        }
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(reserved) => f.debug_tuple("Permit").field(&reserved.used).finish(),
            None => f.write_str("Permit(free)"),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::disallowed_methods,
        reason = "an arbitrary instant to count from"
    )]

    use std::time::Instant;

    use super::*;

    /// Sends retries until the budget is spent, and says how many; none of them succeeds.
    pub(super) fn spend_all(budget: &impl Budget, now: Instant) -> u64 {
        let mut spent = 0;
        while let Some(mut permit) = budget.reserve(Ask::new(now)) {
            permit.sent();
            spent += 1;
            assert!(spent < 1_000_000, "the budget has no bound");
        }
        spent
    }

    /// What one telling says is what two say.
    #[test]
    fn a_success_at_once_is_a_call_and_its_success() {
        let now = Instant::now();
        let make: [fn() -> Arc<dyn Budget>; 5] = [
            || Arc::new(RatioBudget::new(Ratio::ONE)),
            || Arc::new(ThrottleBudget::try_new(1000, Ratio::ONE).unwrap()),
            || Arc::new(ConcurrencyBudget::new(Ratio::ONE, 3)),
            || Arc::new(RefundBudget::new(100)),
            || Arc::new(RateBudget::new(7, std::time::Duration::from_secs(1))),
        ];
        for make in make {
            let (one, two) = (make(), make());
            // As many as there are, held so that none returns.
            let reserve = |budget: &Arc<dyn Budget>| {
                let permits = (0..2_000).map_while(|_| budget.reserve(Ask::new(now)));
                let mut permits: Vec<_> = permits.collect();
                permits.iter_mut().for_each(Permit::sent);
                permits.len()
            };
            for budget in [&one, &two] {
                (0..600).for_each(|_| {
                    budget.on_call(now);
                    budget.on_outcome(Sending::First, Ending::Failure, now);
                });
                reserve(budget);
            }
            for _ in 0..300 {
                one.on_success_at_once(&|| now);
                two.on_call(now);
                two.on_outcome(Sending::First, Ending::Success, now);
            }
            assert_eq!(reserve(&one), reserve(&two), "{one:?}");
        }
    }

    #[test]
    fn budgets_are_handles_of_any_kind() {
        let all: [Arc<dyn Budget>; 5] = [
            Arc::new(RatioBudget::default()),
            Arc::new(ThrottleBudget::default()),
            Arc::new(ConcurrencyBudget::default()),
            Arc::new(RefundBudget::default()),
            Arc::new(RateBudget::default()),
        ];
        for budget in all {
            let now = Instant::now();
            budget.on_call(now);
            budget.on_outcome(Sending::First, Ending::Failure, now);
            let mut permit = budget.reserve(Ask::new(now)).unwrap();
            permit.sent();
            budget.on_outcome(Sending::Retry, Ending::Success, now);
            permit.succeeded();
        }
    }
}
