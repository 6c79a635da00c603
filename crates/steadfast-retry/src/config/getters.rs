use std::num::NonZeroU32;
use std::time::Duration;

use steadfast_core::decide::{Admission, HintRule, Strictness};
use steadfast_core::grpc::RetryableCodes;
use steadfast_core::{Backoff, Hints, RouteRule};

use super::RetryConfig;
use crate::Commit;

impl RetryConfig {
    /// The attempts of a call, the first included.
    pub const fn max_attempts(&self) -> NonZeroU32 {
        self.terms.max_attempts
    }

    /// How long to wait where the peer does not say.
    pub const fn backoff(&self) -> &Backoff {
        &self.terms.backoff
    }

    /// The longest wait that a peer may ask for.
    pub const fn max_hint(&self) -> Option<Duration> {
        self.terms.max_hint
    }

    /// How a peer's hint and the backoff make one wait.
    pub const fn hint_rule(&self) -> HintRule {
        self.terms.hint_rule
    }

    /// Whether an unprotected request is repeated that the peer did not act on.
    pub const fn strictness(&self) -> Strictness {
        self.terms.strictness
    }

    /// What to do when a layer of ours refuses an attempt.
    pub const fn admission(&self) -> Admission {
        self.terms.admission
    }

    /// Which headers of a failed answer say when to come back.
    pub const fn hints(&self) -> &Hints {
        &self.hints
    }

    /// Which gRPC codes a repeat may cure.
    pub const fn retryable_codes(&self) -> RetryableCodes {
        self.retryable_codes
    }

    /// When an answer counts as the caller's.
    pub const fn commit(&self) -> Commit {
        self.commit
    }

    /// The rules about routes, in the order in which they are asked.
    pub fn rules(&self) -> &[RouteRule] {
        &self.rules
    }

    /// The time from a call's start to its answer's head.
    pub const fn total_limit(&self) -> Duration {
        self.total_limit
    }

    /// Bytes of a request body that are kept for later attempts.
    pub const fn replay_limit(&self) -> usize {
        self.replay_limit
    }

    pub(crate) const fn answer_limits(&self) -> (usize, usize) {
        (self.keep_limit, self.drain_limit)
    }

    /// Bytes of a failed answer that are kept for the caller.
    pub const fn keep_limit(&self) -> usize {
        self.keep_limit
    }

    /// Bytes of a failed answer that are read during the wait.
    pub const fn drain_limit(&self) -> usize {
        self.drain_limit
    }
}
