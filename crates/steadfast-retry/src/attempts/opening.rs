//! What a call begins with.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};

use steadfast_core::decide::{Admission, Terms};
use steadfast_core::{Budget, CallContext, Criticality, Deadline};

use crate::{RetryConfig, RetryOverrides, clock};

/// What a call begins with, before anything is sent.
pub(crate) struct Opening {
    pub(super) started: Instant,
    cut: Deadline,
    pub(super) criticality: Criticality,
    owned: bool,
    budget: Option<Arc<dyn Budget>>,
    own: Option<Box<Own>>,
}

/// What a call says otherwise than the config.
struct Own {
    terms: Terms,
    total_limit: Duration,
}

impl Opening {
    #[inline]
    pub(crate) fn new(
        config: &RetryConfig,
        owned: bool,
        deadline: Deadline,
        overrides: Option<RetryOverrides>,
    ) -> Self {
        let differs = overrides.is_some() || owned;
        let (served_until, criticality) = CallContext::current_deadline_and_criticality();
        Self {
            started: clock::now(),
            cut: deadline.earliest(served_until),
            criticality,
            owned,
            budget: None,
            own: differs.then(|| Own::of(config, owned, overrides)),
        }
    }

    /// The budget, where it is not the config's.
    pub(crate) fn choose_budget(&mut self, choose: impl FnOnce(Instant) -> Arc<dyn Budget>) {
        self.budget = Some(choose(self.started));
    }

    /// Whether a loop further out repeats this call.
    #[inline]
    pub(crate) const fn is_owned(&self) -> bool {
        self.owned
    }

    #[inline]
    pub(crate) fn terms<'a>(&'a self, config: &'a RetryConfig) -> &'a Terms {
        match &self.own {
            Some(own) => &own.terms,
            None => &config.terms,
        }
    }

    #[inline]
    fn total_limit(&self, config: &RetryConfig) -> Duration {
        match &self.own {
            Some(own) => own.total_limit,
            None => config.total_limit,
        }
    }

    #[inline]
    pub(super) fn budget<'a>(&'a self, config: &'a RetryConfig) -> &'a dyn Budget {
        &**self.budget.as_ref().unwrap_or(&config.budget)
    }

    /// The first attempt has gone out.
    #[inline]
    pub(crate) fn on_sent(&self, config: &RetryConfig) {
        self.budget(config).on_call(self.started);
    }

    /// When the call must have ended.
    pub(crate) fn deadline(&self, config: &RetryConfig) -> Deadline {
        Deadline::after(self.started, self.total_limit(config)).earliest(self.cut)
    }

    /// Whether the deadline had come when the call began.
    #[inline]
    pub(crate) fn is_expired(&self, config: &RetryConfig) -> bool {
        self.total_limit(config).is_zero() || self.cut.is_expired(self.started)
    }
}

impl Own {
    #[cold]
    fn of(config: &RetryConfig, owned: bool, overrides: Option<RetryOverrides>) -> Box<Self> {
        let mut own = Self {
            terms: config.terms,
            total_limit: config.total_limit,
        };
        if let Some(overrides) = overrides {
            overrides.apply(&mut own.terms, &mut own.total_limit);
        }
        if owned {
            own.terms.max_attempts = NonZeroU32::MIN;
            own.terms.admission = Admission::Stop;
        }
        Box::new(own)
    }
}
