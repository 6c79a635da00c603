use std::time::Duration;

use serde::Deserialize;
use steadfast_core::Ratio;
use steadfast_core::budget::{
    DEFAULT_CAPACITY, DEFAULT_CONCURRENCY_MINIMUM, DEFAULT_CONCURRENCY_RATIO, DEFAULT_MAX_TOKENS,
    DEFAULT_RATE, DEFAULT_RATE_INTERVAL, DEFAULT_RATIO, DEFAULT_THROTTLED_COST,
    DEFAULT_TOKEN_RATIO, DEFAULT_TRANSIENT_COST, DEFAULT_WINDOW,
};

use crate::client::{BudgetKind, Budgets};
use crate::human::{Share, Time};

/// `[budget]`: a whole one, since numbers of one kind say nothing about another.
#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Budget {
    Ratio {
        ratio: Option<Share>,
        minimum_per_second: Option<f64>,
        window: Option<Time>,
        reserve: Option<Share>,
    },
    Throttle {
        max_tokens: Option<u32>,
        token_ratio: Option<Share>,
    },
    Concurrency {
        ratio: Option<Share>,
        minimum: Option<u32>,
    },
    Refund {
        capacity: Option<u32>,
        transient_cost: Option<u32>,
        throttled_cost: Option<u32>,
        reserve: Option<Share>,
    },
    Rate {
        retries: Option<u32>,
        interval: Option<Time>,
        reserve: Option<Share>,
    },
}

impl Budget {
    /// One for each destination.
    pub(super) fn said(self) -> Result<Budgets, String> {
        let share = |said: Option<Share>, default| said.map_or(default, |Share(ratio)| ratio);
        let time = |said: Option<Time>, default: Duration| said.map_or(default, |Time(it)| it);
        let none = Ratio::ZERO;
        let kind = match self {
            Self::Ratio {
                ratio,
                minimum_per_second,
                window,
                reserve,
            } => BudgetKind::Ratio {
                ratio: share(ratio, DEFAULT_RATIO),
                minimum_per_second: per_second(minimum_per_second)?,
                window: time(window, DEFAULT_WINDOW),
                reserve: share(reserve, none),
            },
            Self::Throttle {
                max_tokens,
                token_ratio,
            } => BudgetKind::Throttle {
                max_tokens: max_tokens.unwrap_or(DEFAULT_MAX_TOKENS),
                token_ratio: share(token_ratio, DEFAULT_TOKEN_RATIO),
            },
            Self::Concurrency { ratio, minimum } => BudgetKind::Concurrency {
                ratio: share(ratio, DEFAULT_CONCURRENCY_RATIO),
                minimum: minimum.unwrap_or(DEFAULT_CONCURRENCY_MINIMUM),
            },
            Self::Refund {
                capacity,
                transient_cost,
                throttled_cost,
                reserve,
            } => BudgetKind::Refund {
                capacity: capacity.unwrap_or(DEFAULT_CAPACITY),
                transient_cost: transient_cost.unwrap_or(DEFAULT_TRANSIENT_COST),
                throttled_cost: throttled_cost.unwrap_or(DEFAULT_THROTTLED_COST),
                reserve: share(reserve, none),
            },
            Self::Rate {
                retries,
                interval,
                reserve,
            } => BudgetKind::Rate {
                retries: retries.unwrap_or(DEFAULT_RATE),
                interval: time(interval, DEFAULT_RATE_INTERVAL),
                reserve: share(reserve, none),
            },
        };
        Ok(Budgets::PerDestination(kind))
    }
}

fn per_second(said: Option<f64>) -> Result<Ratio, String> {
    let Some(number) = said else {
        return Ok(Ratio::ZERO);
    };
    let named = |error| format!("budget.minimum_per_second: {error}");
    Ratio::try_from(number).map_err(named)
}
