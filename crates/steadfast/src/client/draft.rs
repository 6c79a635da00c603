use std::num::NonZeroU32;
use std::time::Duration;

use steadfast_admission::breaker::{BreakerConfig, Window};
use steadfast_admission::bulkhead::BulkheadConfig;
use steadfast_admission::cooldown::CooldownConfig;
use steadfast_core::decide::HintRule;
use steadfast_core::{Backoff, Ratio};
use steadfast_deadline::{BodyTimeoutLayer, PropagateConfig};
use steadfast_idempotency::client::{KeyConfig, KeySource, Routes};
use steadfast_retry::RetryConfig;

use super::{BudgetKind, Budgets, InvalidPolicy, Policy, Profile};

/// A policy that is being written: what a [`Profile`] says, and what is changed of it.
///
/// Each part is the config of one layer. [`check`](Self::check) looks at them together and makes a
/// [`Policy`].
///
/// ```
/// use std::time::Duration;
/// use steadfast::client::{Draft, Profile};
///
/// let policy = Draft::of(Profile::InteractiveRead)
///     .with_attempt_timeout(Duration::from_millis(800))
///     .check()?;
/// assert_eq!(policy.as_draft().call_limit(), Duration::from_secs(3));
///
/// let error = Draft::of(Profile::InteractiveRead)
///     .with_attempt_timeout(Duration::from_secs(4))
///     .check()
///     .unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "attempt_timeout is 4s, longer than call_limit, 3s: no attempt ever has its time",
/// );
/// # Ok::<(), steadfast::client::InvalidPolicy>(())
/// ```
#[derive(Clone, Debug)]
pub struct Draft {
    pub(super) profile: Profile,
    pub(super) call_limit: Duration,
    pub(super) attempt_timeout: Duration,
    pub(super) keys: KeyConfig,
    pub(super) retry: RetryConfig,
    pub(super) budgets: Budgets,
    pub(super) cooldown: CooldownConfig,
    pub(super) bulkhead: BulkheadConfig,
    pub(super) breaker: BreakerConfig,
    pub(super) body: BodyTimeoutLayer,
    pub(super) propagation: PropagateConfig,
}

/// The window of a breaker around attempts that may take 30 s: 90 s, three of them, as the default
/// window holds three of the default timeout.
const SLOW_WINDOW: Duration = Duration::from_secs(90);
/// Where calls are few and each matters, or repeats are the work itself: one retry a second,
/// whatever the calls are. A share of few calls would be a single retry in its window.
const ONE_A_SECOND: Ratio = Ratio::ONE;

impl Draft {
    /// What the profile says.
    pub fn of(profile: Profile) -> Self {
        let pace = profile.pace();
        let backoff = Backoff::default().with_base(pace.base).with_cap(pace.cap);
        let mut draft = Self {
            profile,
            call_limit: pace.call_limit,
            attempt_timeout: pace.attempt_timeout,
            keys: KeyConfig::new(Routes::new()),
            retry: RetryConfig::new()
                .with_max_attempts(pace.attempts)
                .with_backoff(backoff),
            budgets: Budgets::default(),
            cooldown: CooldownConfig::new(),
            bulkhead: BulkheadConfig::new(),
            breaker: BreakerConfig::new(),
            body: BodyTimeoutLayer::default(),
            propagation: PropagateConfig::default(),
        };
        let floor = Budgets::PerDestination(BudgetKind::with_floor(ONE_A_SECOND));
        match profile {
            Profile::Default | Profile::InteractiveRead | Profile::InteractiveWrite => {}
            Profile::Payment => {
                draft.keys = draft.keys.with_source(KeySource::RequireExplicit);
                draft.budgets = floor;
            }
            Profile::Background => {
                draft.breaker = draft.breaker.with_window(Window::time(SLOW_WINDOW));
                draft.budgets = floor;
            }
            Profile::Polling => {
                draft.retry = draft.retry.with_hint_rule(HintRule::Max);
                draft.budgets = floor;
            }
        }
        draft
    }

    /// Sets the time of a whole call, up to the head of its answer and waits included, where no
    /// deadline is earlier; `Duration::MAX` is no limit. Default: the profile's.
    #[must_use]
    pub const fn with_call_limit(mut self, limit: Duration) -> Self {
        self.call_limit = limit;
        self
    }

    /// Sets the time of one attempt up to the head of its answer; `Duration::MAX` is no limit.
    /// Default: the profile's.
    #[must_use]
    pub const fn with_attempt_timeout(mut self, timeout: Duration) -> Self {
        self.attempt_timeout = timeout;
        self
    }

    /// Sets the attempts of a call, the first included; 1 never repeats. Default: the profile's.
    #[must_use]
    pub fn with_max_attempts(mut self, attempts: NonZeroU32) -> Self {
        self.retry = self.retry.with_max_attempts(attempts);
        self
    }

    /// Sets how long to wait before a repeat where the peer does not say. Default: the profile's.
    #[must_use]
    pub fn with_backoff(mut self, backoff: Backoff) -> Self {
        self.retry = self.retry.with_backoff(backoff);
        self
    }

    /// Declares the routes whose peers honour keys, keeping how keys are written and where they
    /// come from. Default: none.
    #[must_use]
    pub fn with_key_routes(mut self, routes: Routes) -> Self {
        self.keys = self.keys.with_routes(routes);
        self
    }

    /// Sets everything about keys, also whether calls must bring theirs, which the payment profile
    /// demands and [`KeyConfig::new`] does not. Default: no route.
    #[must_use]
    pub fn with_keys(mut self, keys: KeyConfig) -> Self {
        self.keys = keys;
        self
    }

    /// Sets everything about repeats but their budget, which is
    /// [`with_budgets`](Self::with_budgets)' affair, and the call's whole time, which is the call
    /// limit's. Its classifier, observer and randomness give way to the layer's.
    #[must_use]
    pub fn with_retry(mut self, retry: RetryConfig) -> Self {
        self.retry = retry;
        self
    }

    /// Sets what caps repeats in aggregate. Default: 10% of the calls to each destination, and at
    /// least one a second for the payment, background and polling profiles.
    #[must_use]
    pub fn with_budgets(mut self, budgets: Budgets) -> Self {
        self.budgets = budgets;
        self
    }

    /// Sets how a host's wish to be left alone is honoured; with [`Mode::Off`] it is not.
    ///
    /// [`Mode::Off`]: crate::admission::Mode::Off
    #[must_use]
    pub fn with_cooldown(mut self, cooldown: CooldownConfig) -> Self {
        self.cooldown = cooldown;
        self
    }

    /// Sets how many calls may be in flight to one destination.
    #[must_use]
    pub fn with_bulkhead(mut self, bulkhead: BulkheadConfig) -> Self {
        self.bulkhead = bulkhead;
        self
    }

    /// Sets when a destination that fails is left alone. Default: that of the layer; the background
    /// profile counts over 90 s.
    #[must_use]
    pub fn with_breaker(mut self, breaker: BreakerConfig) -> Self {
        self.breaker = breaker;
        self
    }

    /// Sets when a body that has fallen silent ends.
    #[must_use]
    pub const fn with_body_timeout(mut self, body: BodyTimeoutLayer) -> Self {
        self.body = body;
        self
    }

    /// Sets what the next hop is told.
    #[must_use]
    pub fn with_propagation(mut self, propagation: PropagateConfig) -> Self {
        self.propagation = propagation;
        self
    }

    /// Looks at all parts together.
    ///
    /// # Errors
    ///
    /// Names every combination that could not do what it says.
    pub fn check(self) -> Result<Policy, InvalidPolicy> {
        Policy::try_from(self)
    }
}

mod getters;
