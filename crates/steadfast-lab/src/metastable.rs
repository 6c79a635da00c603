//! A trigger that is over, and a system that does not recover: who keeps it down?
//!
//! An open loop of calls meets a server that works on one request at a time, first come, first
//! served. For a while it is slow; then it is well again. Client and server are the facade's whole
//! stacks, on tokio's paused clock; network and handler are models.

use std::fmt;
use std::num::NonZeroU32;
use std::time::Duration;

use steadfast::admission::Mode;
use steadfast::admission::breaker::BreakerConfig;
use steadfast::admission::bulkhead::BulkheadConfig;
use steadfast::admission::cooldown::CooldownConfig;
use steadfast::budget::{
    DEFAULT_CAPACITY, DEFAULT_CONCURRENCY_MINIMUM, DEFAULT_CONCURRENCY_RATIO, DEFAULT_MAX_TOKENS,
    DEFAULT_RATE, DEFAULT_RATE_INTERVAL, DEFAULT_THROTTLED_COST, DEFAULT_TOKEN_RATIO,
    DEFAULT_TRANSIENT_COST,
};
use steadfast::client::{BudgetKind, Budgets, Draft, InvalidPolicy, Policy, Profile};
use steadfast::{Budget, Ratio};

mod network;
mod outcome;
mod queue;
mod unlimited;
mod world;

pub use outcome::{Latency, Outcome, Second};
use unlimited::Unlimited;

/// How long one attempt waits: a second, as in the model that the figures are compared with.
pub const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(1);

/// What is simulated.
#[derive(Clone, Copy, Debug)]
pub struct Metastable {
    /// What clients do about failures.
    pub retries: Retries,
    /// What the server does about work whose caller has gone.
    pub expired: Expired,
    /// Calls that arrive, as a share of what the server can do.
    pub load: Ratio,
    /// Clients with states of their own. Default: 20.
    pub clients: NonZeroU32,
    /// Seconds before the trigger. Default: 10.
    pub before: u32,
    /// Seconds that the server does a fifth of its work. Default: 10.
    pub trigger: u32,
    /// Seconds after that, of which the last 20 say whether it recovered. Default: 90.
    pub after: u32,
    /// The same seed has the same outcome.
    pub seed: u64,
}

impl Metastable {
    /// The defaults, with seed 1.
    pub const fn new(retries: Retries, expired: Expired, load: Ratio) -> Self {
        Self {
            retries,
            expired,
            load,
            clients: NonZeroU32::MIN.saturating_add(19),
            before: 10,
            trigger: 10,
            after: 90,
            seed: 1,
        }
    }

    /// Runs it.
    ///
    /// # Errors
    ///
    /// Where no runtime can be had, in one line.
    pub fn run(&self) -> Result<Outcome, String> {
        let policy = self.retries.policy().map_err(|error| error.to_string())?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .map_err(|error| format!("no runtime: {error}"))?;
        Ok(runtime.block_on(world::simulate(self, policy)))
    }
}

/// What clients do about failures: attempts of a second, without breaker unless it says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retries {
    /// Nothing.
    None,
    /// Three attempts, and nothing that caps them together.
    Naive,
    /// Three attempts within the default [`RatioBudget`](steadfast::budget::RatioBudget).
    Ratio,
    /// Within the default [`ThrottleBudget`](steadfast::budget::ThrottleBudget).
    Throttle,
    /// Within the default [`ConcurrencyBudget`](steadfast::budget::ConcurrencyBudget).
    Concurrency,
    /// Within the default [`RefundBudget`](steadfast::budget::RefundBudget).
    Refund,
    /// Within the default [`RateBudget`](steadfast::budget::RateBudget).
    Rate,
    /// `client::Standard` with its default policy, breaker included, but for the attempt's second.
    Standard,
}

impl Retries {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::None,
        Self::Naive,
        Self::Ratio,
        Self::Throttle,
        Self::Concurrency,
        Self::Refund,
        Self::Rate,
        Self::Standard,
    ];

    /// Its name in tables and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Naive => "naive",
            Self::Ratio => "ratio",
            Self::Throttle => "throttle",
            Self::Concurrency => "concurrency",
            Self::Refund => "refund",
            Self::Rate => "rate",
            Self::Standard => "standard",
        }
    }

    fn policy(self) -> Result<Policy, InvalidPolicy> {
        let draft = Draft::of(Profile::Default).with_attempt_timeout(ATTEMPT_TIMEOUT);
        let Some(budgets) = self.budgets() else {
            return draft.check();
        };
        let draft = match self {
            Self::None => draft.with_max_attempts(NonZeroU32::MIN),
            _ => draft,
        };
        draft
            .with_budgets(budgets)
            .with_breaker(BreakerConfig::new().with_mode(Mode::Off))
            .with_bulkhead(BulkheadConfig::new().with_mode(Mode::Off))
            .with_cooldown(CooldownConfig::new().with_mode(Mode::Off))
            .check()
    }

    /// Each kind with its defaults; `None` leaves the whole policy as it is.
    fn budgets(self) -> Option<Budgets> {
        let kind = match self {
            Self::Standard => return None,
            Self::Naive => {
                let unlimited: std::sync::Arc<dyn Budget> = std::sync::Arc::new(Unlimited);
                return Some(Budgets::handle(unlimited));
            }
            Self::None | Self::Ratio => BudgetKind::default(),
            Self::Throttle => BudgetKind::Throttle {
                max_tokens: DEFAULT_MAX_TOKENS,
                token_ratio: DEFAULT_TOKEN_RATIO,
            },
            Self::Concurrency => BudgetKind::Concurrency {
                ratio: DEFAULT_CONCURRENCY_RATIO,
                minimum: DEFAULT_CONCURRENCY_MINIMUM,
            },
            Self::Refund => BudgetKind::Refund {
                capacity: DEFAULT_CAPACITY,
                transient_cost: DEFAULT_TRANSIENT_COST,
                throttled_cost: DEFAULT_THROTTLED_COST,
                reserve: Ratio::ZERO,
            },
            Self::Rate => BudgetKind::Rate {
                retries: DEFAULT_RATE,
                interval: DEFAULT_RATE_INTERVAL,
                reserve: Ratio::ZERO,
            },
        };
        Some(Budgets::PerDestination(kind))
    }
}

impl fmt::Display for Retries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What the server does about work whose caller has gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expired {
    /// It does not know: the handler stands alone.
    WorkedOn,
    /// It drops it: the handler stands in `server::Standard` with its defaults.
    Dropped,
}

impl Expired {
    /// Both.
    pub const ALL: [Self; 2] = [Self::WorkedOn, Self::Dropped];

    /// Its name in tables and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::WorkedOn => "worked-on",
            Self::Dropped => "dropped",
        }
    }
}
