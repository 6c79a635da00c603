use std::sync::Arc;
use std::time::Duration;

use steadfast_core::budget::{
    ConcurrencyBudget, DEFAULT_RATIO, DEFAULT_WINDOW, InvalidThrottle, RateBudget, RatioBudget,
    RefundBudget, ThrottleBudget,
};
use steadfast_core::{Budget, Ratio};

/// A kind of budget and its numbers, as a policy says them; each kind's page has its bound.
///
/// ```
/// use steadfast::Ratio;
/// use steadfast::client::BudgetKind;
///
/// let BudgetKind::Ratio { ratio, minimum_per_second, .. } = BudgetKind::default() else {
///     unreachable!()
/// };
/// assert_eq!(ratio, Ratio::percent(10)?);
/// assert_eq!(minimum_per_second, Ratio::ZERO);
/// # Ok::<(), steadfast::InvalidRatio>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetKind {
    /// Retries below a share of the calls in a window: [`RatioBudget`].
    Ratio {
        /// Retries for each call.
        ratio: Ratio,
        /// Retries a second that are allowed whatever the calls are: for small clients.
        minimum_per_second: Ratio,
        /// Over what time calls and retries are counted.
        window: Duration,
        /// The share that is for critical calls alone.
        reserve: Ratio,
    },
    /// gRPC's throttle: [`ThrottleBudget`].
    Throttle {
        /// Tokens at the start and at most, from 1 to 1000.
        max_tokens: u32,
        /// Tokens that a success gives back.
        token_ratio: Ratio,
    },
    /// Retries in flight below a share of the calls in flight: [`ConcurrencyBudget`].
    Concurrency {
        /// Retries in flight for each call in flight.
        ratio: Ratio,
        /// Retries in flight that are allowed whatever the calls are.
        minimum: u32,
    },
    /// A capacity that retries which worked give back: [`RefundBudget`].
    Refund {
        /// What there is at the start and at most.
        capacity: u32,
        /// What a retry after a transient fault costs.
        transient_cost: u32,
        /// What a retry after an answer of overload costs.
        throttled_cost: u32,
        /// The share that is for critical calls alone.
        reserve: Ratio,
    },
    /// So many retries in an interval: [`RateBudget`].
    Rate {
        /// Retries in one interval.
        retries: u32,
        /// The interval.
        interval: Duration,
        /// The share that is for critical calls alone.
        reserve: Ratio,
    },
}

impl Default for BudgetKind {
    fn default() -> Self {
        Self::Ratio {
            ratio: DEFAULT_RATIO,
            minimum_per_second: Ratio::ZERO,
            window: DEFAULT_WINDOW,
            reserve: Ratio::ZERO,
        }
    }
}

impl BudgetKind {
    /// The default kind, with so many retries a second whatever the calls are.
    pub(super) fn with_floor(per_second: Ratio) -> Self {
        Self::Ratio {
            ratio: DEFAULT_RATIO,
            minimum_per_second: per_second,
            window: DEFAULT_WINDOW,
            reserve: Ratio::ZERO,
        }
    }

    pub(super) fn make(self) -> Arc<dyn Budget> {
        match self {
            Self::Ratio {
                ratio,
                minimum_per_second,
                window,
                reserve,
            } => Arc::new(
                RatioBudget::new(ratio)
                    .with_window(window)
                    .with_minimum_per_second(minimum_per_second)
                    .with_reserve(reserve),
            ),
            Self::Throttle {
                max_tokens,
                token_ratio,
            } => Arc::new(ThrottleBudget::try_new(max_tokens, token_ratio).unwrap_or_default()),
            Self::Concurrency { ratio, minimum } => {
                Arc::new(ConcurrencyBudget::new(ratio, minimum))
            }
            Self::Refund {
                capacity,
                transient_cost,
                throttled_cost,
                reserve,
            } => Arc::new(
                RefundBudget::new(capacity)
                    .with_costs(transient_cost, throttled_cost)
                    .with_reserve(reserve),
            ),
            Self::Rate {
                retries,
                interval,
                reserve,
            } => Arc::new(RateBudget::new(retries, interval).with_reserve(reserve)),
        }
    }

    /// What no throttle can be made of.
    pub(super) fn invalid(self) -> Option<InvalidThrottle> {
        match self {
            Self::Throttle {
                max_tokens,
                token_ratio,
            } => ThrottleBudget::try_new(max_tokens, token_ratio).err(),
            _ => None,
        }
    }

    /// Whether no retry is ever allowed.
    pub(super) fn is_nothing(self) -> bool {
        match self {
            Self::Ratio {
                ratio,
                minimum_per_second,
                reserve,
                ..
            } => (ratio, minimum_per_second) == (Ratio::ZERO, Ratio::ZERO) || reserve >= Ratio::ONE,
            Self::Throttle { .. } => false,
            Self::Concurrency { ratio, minimum } => ratio == Ratio::ZERO && minimum == 0,
            Self::Refund {
                capacity,
                transient_cost,
                ..
            } => capacity < transient_cost,
            Self::Rate { retries, .. } => retries == 0,
        }
    }
}
