use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use steadfast_core::budget::{BudgetFor, RatioBudget};
use steadfast_core::decide::{Admission, HintRule, Strictness, Terms};
use steadfast_core::grpc::RetryableCodes;
use steadfast_core::order::ToldOnce;
use steadfast_core::{
    Allowance, Backoff, Budget, Classify, DefaultClassify, Hints, Observe, OwnerMark, Random,
    RouteRule,
};

use crate::{Commit, UpstreamOwner};

mod getters;
mod owner;

/// From a call's start to its answer's head, waits included, where no deadline is shorter: 30 s,
/// the usual patience of a gateway in front. A call starts when its future is first polled.
pub const DEFAULT_TOTAL_LIMIT: Duration = Duration::from_secs(30);
/// Bytes of a request body that are kept for later attempts: 64 KiB, as in Linkerd.
pub const DEFAULT_REPLAY_LIMIT: usize = 64 * 1024;
/// Bytes of a failed answer's body that are kept for the caller: 8 KiB, enough for any problem
/// document.
pub const DEFAULT_KEEP_LIMIT: usize = 8 * 1024;
/// Bytes of a failed answer's body that are read during the wait, so that its connection can be
/// used again: 64 KiB; a longer one is dropped.
pub const DEFAULT_DRAIN_LIMIT: usize = 64 * 1024;

/// What a [`RetryLayer`](crate::RetryLayer) does.
///
/// Every value is valid; none panics.
///
/// ```
/// use std::time::Duration;
/// use steadfast_core::Backoff;
/// use steadfast_retry::RetryConfig;
///
/// let config = RetryConfig::default();
/// assert_eq!(config.max_attempts().get(), 3);
/// assert_eq!(config.backoff(), &Backoff::default());
/// assert_eq!(config.total_limit(), Duration::from_secs(30));
/// assert_eq!(config.replay_limit(), 64 * 1024);
/// assert_eq!(config.keep_limit(), 8 * 1024);
/// assert_eq!(config.drain_limit(), 64 * 1024);
/// assert_eq!(config.max_hint(), None);
/// ```
#[derive(Clone)]
pub struct RetryConfig {
    pub(crate) terms: Terms,
    pub(crate) total_limit: Duration,
    pub(crate) replay_limit: usize,
    pub(crate) keep_limit: usize,
    pub(crate) drain_limit: usize,
    pub(crate) budget: Arc<dyn Budget>,
    pub(crate) budget_for: Option<Arc<dyn BudgetFor>>,
    pub(crate) classify: Arc<dyn Classify>,
    pub(crate) rules: Vec<RouteRule>,
    pub(crate) hints: Hints,
    pub(crate) retryable_codes: RetryableCodes,
    pub(crate) commit: Commit,
    pub(crate) owner_mark: Option<OwnerMark>,
    pub(crate) next_hop: Option<Allowance>,
    pub(crate) upstream: UpstreamOwner,
    pub(crate) observer: Option<Arc<dyn Observe>>,
    pub(crate) misordered: ToldOnce,
    pub(crate) random: Random,
}

impl Default for RetryConfig {
    fn default() -> Self {
        Self {
            terms: Terms::default(),
            total_limit: DEFAULT_TOTAL_LIMIT,
            replay_limit: DEFAULT_REPLAY_LIMIT,
            keep_limit: DEFAULT_KEEP_LIMIT,
            drain_limit: DEFAULT_DRAIN_LIMIT,
            budget: Arc::new(RatioBudget::default()),
            budget_for: None,
            classify: Arc::new(DefaultClassify),
            rules: Vec::new(),
            hints: Hints::default(),
            retryable_codes: RetryableCodes::default(),
            commit: Commit::default(),
            owner_mark: None,
            next_hop: None,
            upstream: UpstreamOwner::default(),
            observer: None,
            misordered: ToldOnce::new(),
            random: Random::new(),
        }
    }
}

impl RetryConfig {
    /// Whether it says the same of every request.
    #[inline]
    pub(crate) fn is_same_for_all(&self) -> bool {
        self.rules.is_empty() && self.budget_for.is_none() && self.next_hop.is_none()
    }

    /// The defaults, with a budget and randomness of their own. Clones share both, so that several
    /// layers can be made over one budget.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the attempts of a call, the first included; 1 never repeats. Default: 3.
    #[must_use]
    pub fn with_max_attempts(mut self, max_attempts: NonZeroU32) -> Self {
        self.terms.max_attempts = max_attempts;
        self
    }

    /// Sets how long to wait where the peer does not say. Default: [`Backoff::default`].
    #[must_use]
    pub fn with_backoff(mut self, backoff: Backoff) -> Self {
        self.terms.backoff = backoff;
        self
    }

    /// Sets the longest wait that a peer may ask for: a longer one ends the call with the answer
    /// that asked. Default: none, so the deadline alone limits it.
    #[must_use]
    pub fn with_max_hint(mut self, max_hint: Duration) -> Self {
        self.terms.max_hint = Some(max_hint);
        self
    }

    /// Sets how a peer's hint and the backoff make one wait. Default: [`HintRule::Add`].
    #[must_use]
    pub fn with_hint_rule(mut self, rule: HintRule) -> Self {
        self.terms.hint_rule = rule;
        self
    }

    /// Sets whether an unprotected request is repeated that the peer did not act on. Default:
    /// [`Strictness::Standard`], it is.
    #[must_use]
    pub fn with_strictness(mut self, strictness: Strictness) -> Self {
        self.terms.strictness = strictness;
        self
    }

    /// Sets what to do when a breaker, a cooldown or a bulkhead of ours refuses an attempt.
    /// Default: [`Admission::Stop`].
    #[must_use]
    pub fn with_admission(mut self, admission: Admission) -> Self {
        self.terms.admission = admission;
        self
    }

    /// Adds what the documentation of an API says about some of its routes. The first rule that
    /// matches a request holds. Default: none.
    #[must_use]
    pub fn with_rule(mut self, rule: RouteRule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Sets which headers of a failed answer say when to come back. Default: [`Hints::default`].
    #[must_use]
    pub fn with_hints(mut self, hints: Hints) -> Self {
        self.hints = hints;
        self
    }

    /// Sets which gRPC codes a repeat may cure. Default: UNAVAILABLE.
    #[must_use]
    pub fn with_retryable_codes(mut self, codes: RetryableCodes) -> Self {
        self.retryable_codes = codes;
        self
    }

    /// Sets when an answer counts as the caller's. Default: [`Commit::FirstFrame`].
    #[must_use]
    pub fn with_commit(mut self, commit: Commit) -> Self {
        self.commit = commit;
        self
    }

    /// Sets the time from a call's start, which is when its future is first polled, to its answer's
    /// head, waits included. The deadline of the call, if that is earlier, rules. Default: [`DEFAULT_TOTAL_LIMIT`]; `Duration::MAX` is
    /// no limit.
    #[must_use]
    pub fn with_total_limit(mut self, limit: Duration) -> Self {
        self.total_limit = limit;
        self
    }

    /// Sets how many bytes of a request body are kept for later attempts. A longer body is sent
    /// once, whole. Default: [`DEFAULT_REPLAY_LIMIT`].
    #[must_use]
    pub fn with_replay_limit(mut self, bytes: usize) -> Self {
        self.replay_limit = bytes;
        self
    }

    /// Sets how many bytes of a failed answer are kept for the caller. Default:
    /// [`DEFAULT_KEEP_LIMIT`].
    #[must_use]
    pub fn with_keep_limit(mut self, bytes: usize) -> Self {
        self.keep_limit = bytes;
        self
    }

    /// Sets how many bytes of a failed answer are read during the wait. Default:
    /// [`DEFAULT_DRAIN_LIMIT`].
    #[must_use]
    pub fn with_drain_limit(mut self, bytes: usize) -> Self {
        self.drain_limit = bytes;
        self
    }

    /// Sets what caps retries in aggregate. A budget is a handle: give clones of one to several
    /// stacks and they share it. Default: a [`RatioBudget`] of 10%, of this config's own.
    #[must_use]
    pub fn with_budget(mut self, budget: impl Budget) -> Self {
        self.budget = Arc::new(budget);
        self.budget_for = None;
        self
    }

    /// Sets what chooses the budget of each call, for all its attempts: one for each destination
    /// or endpoint, with a [`KeyedBudget`](steadfast_core::budget::KeyedBudget), or by a key of
    /// your own. [`operation`](crate::operation())s, which have no target, use the last
    /// [`with_budget`](Self::with_budget). Default: one budget for all calls.
    #[must_use]
    pub fn with_budget_for(mut self, choice: impl BudgetFor) -> Self {
        self.budget_for = Some(Arc::new(choice));
        self
    }

    /// Sets what answers and errors mean. Default: [`DefaultClassify`], for which every error is
    /// unknown; an adapter such as steadfast-hyper knows more.
    #[must_use]
    pub fn with_classify(mut self, classify: impl Classify) -> Self {
        self.classify = Arc::new(classify);
        self
    }

    /// Sets who is told of attempts and ends. Default: nobody.
    #[must_use]
    pub fn with_observer(mut self, observer: impl Observe) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// Sets the randomness of the jitter. Default: seeded by the operating system.
    #[must_use]
    pub fn with_random(mut self, random: Random) -> Self {
        self.random = random;
        self
    }
}

impl fmt::Debug for RetryConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryConfig")
            .field("terms", &self.terms)
            .field("total_limit", &self.total_limit)
            .field("replay_limit", &self.replay_limit)
            .field("keep_limit", &self.keep_limit)
            .field("drain_limit", &self.drain_limit)
            .field("budget", &self.budget)
            .finish_non_exhaustive()
    }
}
