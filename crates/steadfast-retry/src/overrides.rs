use std::num::NonZeroU32;
use std::time::Duration;

use steadfast_core::Backoff;
use steadfast_core::decide::{Admission, HintRule, Strictness, Terms};
use steadfast_core::grpc::RetryableCodes;

use crate::Commit;

/// What one call says otherwise than the layer's config: a single value in the request's
/// extensions.
///
/// ```
/// use std::num::NonZeroU32;
/// use std::time::Duration;
/// use http::Request;
/// use steadfast_retry::RetryOverrides;
///
/// let request = Request::get("http://api.example/slow")
///     .extension(
///         RetryOverrides::new()
///             .with_max_attempts(NonZeroU32::MIN)
///             .with_total_limit(Duration::from_secs(90)),
///     )
///     .body(());
/// # let _ = request;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RetryOverrides {
    max_attempts: Option<NonZeroU32>,
    backoff: Option<Backoff>,
    max_hint: Option<Duration>,
    hint_rule: Option<HintRule>,
    strictness: Option<Strictness>,
    admission: Option<Admission>,
    total_limit: Option<Duration>,
    retryable_codes: Option<RetryableCodes>,
    commit: Option<Commit>,
}

impl RetryOverrides {
    /// Says nothing: the config holds.
    pub const fn new() -> Self {
        Self {
            max_attempts: None,
            backoff: None,
            max_hint: None,
            hint_rule: None,
            strictness: None,
            admission: None,
            total_limit: None,
            retryable_codes: None,
            commit: None,
        }
    }

    /// Sets the attempts of this call, the first included.
    #[must_use]
    pub const fn with_max_attempts(mut self, max_attempts: NonZeroU32) -> Self {
        self.max_attempts = Some(max_attempts);
        self
    }

    /// Sets how long to wait where the peer does not say.
    #[must_use]
    pub const fn with_backoff(mut self, backoff: Backoff) -> Self {
        self.backoff = Some(backoff);
        self
    }

    /// Sets the longest wait that the peer may ask for.
    #[must_use]
    pub const fn with_max_hint(mut self, max_hint: Duration) -> Self {
        self.max_hint = Some(max_hint);
        self
    }

    /// Sets how a peer's hint and the backoff make one wait.
    #[must_use]
    pub const fn with_hint_rule(mut self, rule: HintRule) -> Self {
        self.hint_rule = Some(rule);
        self
    }

    /// Sets whether this request is repeated, if unprotected, when the peer did not act on it.
    #[must_use]
    pub const fn with_strictness(mut self, strictness: Strictness) -> Self {
        self.strictness = Some(strictness);
        self
    }

    /// Sets what to do when a layer of ours refuses an attempt.
    #[must_use]
    pub const fn with_admission(mut self, admission: Admission) -> Self {
        self.admission = Some(admission);
        self
    }

    /// Sets the time from the call's start to its answer's head. A deadline of the call or of the
    /// request being served still holds.
    #[must_use]
    pub const fn with_total_limit(mut self, limit: Duration) -> Self {
        self.total_limit = Some(limit);
        self
    }

    /// Sets which gRPC codes a repeat of this call may cure.
    #[must_use]
    pub const fn with_retryable_codes(mut self, codes: RetryableCodes) -> Self {
        self.retryable_codes = Some(codes);
        self
    }

    /// Sets when an answer to this call counts as the caller's.
    #[must_use]
    pub const fn with_commit(mut self, commit: Commit) -> Self {
        self.commit = Some(commit);
        self
    }

    pub(crate) const fn retryable_codes(&self) -> Option<RetryableCodes> {
        self.retryable_codes
    }

    pub(crate) const fn commit(&self) -> Option<Commit> {
        self.commit
    }

    pub(crate) fn apply(self, terms: &mut Terms, total_limit: &mut Duration) {
        fn set<T>(place: &mut T, value: Option<T>) {
            if let Some(value) = value {
                *place = value;
            }
        }
        set(&mut terms.max_attempts, self.max_attempts);
        set(&mut terms.backoff, self.backoff);
        set(&mut terms.hint_rule, self.hint_rule);
        set(&mut terms.strictness, self.strictness);
        set(&mut terms.admission, self.admission);
        set(total_limit, self.total_limit);
        terms.max_hint = self.max_hint.or(terms.max_hint);
    }
}
