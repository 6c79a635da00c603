//! What a call begins with.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};

use steadfast_core::budget::{Ending, Sending};
use steadfast_core::decide::{Admission, Terms};
use steadfast_core::grpc::RetryableCodes;
use steadfast_core::{
    Allowance, Attempt, Budget, CallContext, Criticality, Deadline, Owner, Ratio, Safety, reading,
};

use crate::split::Split;
use crate::upstream::Ownership;
use crate::{Commit, RetryConfig, RetryOverrides, clock};

/// What a call begins with, before anything is sent.
pub(crate) struct Opening {
    /// When somebody first had a reason to ask; before that no time has gone by.
    pub(super) started: Option<Instant>,
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
    retryable_codes: RetryableCodes,
    commit: Commit,
    /// Where the attempts are shared with other hops.
    split: Option<Split>,
}

impl Opening {
    /// Of a call in which nothing but the config has a say, and what is served.
    #[inline]
    pub(crate) fn common(served_until: Deadline, criticality: Criticality) -> Self {
        Self {
            started: reading(),
            cut: served_until,
            criticality,
            owned: false,
            budget: None,
            own: None,
        }
    }

    /// Of which so much is left to the next hop.
    pub(crate) fn new(
        config: &RetryConfig,
        ownership: Ownership,
        next: Option<Allowance>,
        deadline: Deadline,
        overrides: Option<RetryOverrides>,
    ) -> Self {
        let owned = matches!(ownership, Ownership::Foreign);
        let alone = matches!(ownership, Ownership::Own) && next.is_none();
        let differs = overrides.is_some() || !alone;
        let (served_until, criticality) = CallContext::current_deadline_and_criticality();
        Self {
            started: reading(),
            cut: deadline.earliest(served_until),
            criticality,
            owned,
            budget: None,
            own: differs.then(|| Own::of(config, ownership, next, overrides)),
        }
    }

    /// The budget, where it is not the config's.
    pub(crate) fn choose_budget(&mut self, choose: impl FnOnce(Instant) -> Arc<dyn Budget>) {
        self.budget = Some(choose(self.start()));
    }

    /// The call's time begins, if it has not.
    #[inline]
    pub(crate) fn start(&mut self) -> Instant {
        *self.started.get_or_insert_with(clock::now)
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

    /// Which gRPC codes a repeat may cure.
    pub(super) fn retryable_codes(&self, config: &RetryConfig) -> RetryableCodes {
        let own = self.own.as_ref().map(|own| own.retryable_codes);
        own.unwrap_or(config.retryable_codes)
    }

    /// When an answer counts as the caller's.
    #[inline]
    pub(super) fn commit(&self, config: &RetryConfig) -> Commit {
        self.own.as_ref().map_or(config.commit, |own| own.commit)
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

    /// An attempt goes out, and none did before.
    pub(super) fn on_call(&mut self, config: &RetryConfig) {
        let now = self.start();
        if !self.is_repeat() {
            self.budget(config).on_call(now);
        }
    }

    /// The first attempt brought what was wanted, and nobody had to wait for it.
    #[inline]
    pub(super) fn on_success_at_once(&self, config: &RetryConfig) {
        let budget = self.budget(config);
        let Some(now) = self.started else {
            return budget.on_success_at_once(&clock::now);
        };
        budget.on_call(now);
        budget.on_outcome(Sending::First, Ending::Success, now);
    }

    #[inline]
    fn split(&self) -> Option<&Split> {
        self.own.as_ref()?.split.as_ref()
    }

    /// Whether the call is a repeat of a hop before this one, which splits with this one: to the
    /// budget it is none that earns another.
    #[inline]
    pub(super) fn is_repeat(&self) -> bool {
        self.split().is_some_and(Split::is_repeat)
    }

    /// What the call may use of its budget.
    pub(super) fn share(&self) -> Ratio {
        self.split().map_or(Ratio::ONE, |split| split.share)
    }

    /// Whether any outcome could lead to another attempt of a call that is so safe, here or at a
    /// hop that this one leaves attempts to.
    #[inline]
    pub(crate) fn may_repeat(&self, config: &RetryConfig, safety: impl FnOnce() -> Safety) -> bool {
        let terms = self.terms(config);
        if self.split().is_some_and(Split::leaves_something) {
            let mut all = *terms;
            all.max_attempts = NonZeroU32::MAX;
            return all.may_repeat(safety);
        }
        terms.may_repeat(safety)
    }

    /// What the next hop is told of this attempt, whose repeats are this layer's or not; `None`
    /// where they are nobody's.
    pub(crate) fn told(&self, config: &RetryConfig, owns: bool, number: u32) -> Option<Owner> {
        match (owns, self.split()) {
            (true, Some(split)) => Some(split.owner(number)),
            (true, None) => {
                let max = self.terms(config).max_attempts.get();
                Some(Attempt { number, max }.into())
            }
            // What cannot be repeated here may be where it goes.
            (false, Some(split)) => split.upstream(),
            (false, None) => None,
        }
    }

    /// When the call must have ended, once its time has begun.
    pub(crate) fn deadline(&self, config: &RetryConfig) -> Deadline {
        let limit = |started| Deadline::after(started, self.total_limit(config));
        self.started
            .map_or(Deadline::NONE, limit)
            .earliest(self.cut)
    }

    /// Whether the deadline had come when the call began.
    #[inline]
    pub(crate) fn is_expired(&mut self, config: &RetryConfig) -> bool {
        self.total_limit(config).is_zero()
            || (self.cut != Deadline::NONE && self.cut.is_expired(self.start()))
    }
}

impl Own {
    #[cold]
    fn of(
        config: &RetryConfig,
        ownership: Ownership,
        next: Option<Allowance>,
        overrides: Option<RetryOverrides>,
    ) -> Box<Self> {
        let mut own = Self {
            terms: config.terms,
            total_limit: config.total_limit,
            retryable_codes: overrides
                .and_then(|overrides| overrides.retryable_codes())
                .unwrap_or(config.retryable_codes),
            commit: overrides
                .and_then(|overrides| overrides.commit())
                .unwrap_or(config.commit),
            split: None,
        };
        if let Some(overrides) = overrides {
            overrides.apply(&mut own.terms, &mut own.total_limit);
        }
        let upstream = match ownership {
            Ownership::Foreign => {
                own.terms.max_attempts = NonZeroU32::MIN;
                own.terms.admission = Admission::Stop;
                return Box::new(own);
            }
            Ownership::Part(owner) => Some(owner),
            Ownership::Own => None,
        };
        if upstream.is_some() || next.is_some() {
            let split = Split::of(own.terms.max_attempts, upstream, next);
            own.terms.max_attempts = split.attempts;
            own.split = Some(split);
        }
        Box::new(own)
    }
}
