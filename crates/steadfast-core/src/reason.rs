use std::fmt;

/// Why a call ended without another attempt: one closed list, shared by report, event, metric
/// and log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// A repeat would fail again: a permanent error or an answer that is final.
    NotRetryable,
    /// A repeat could have a second effect, and the first sending may have had one.
    Unprotected,
    /// The request body cannot be sent again.
    BodyNotReplayable,
    /// Part of the answer has reached the caller already.
    Committed,
    /// All allowed attempts were made.
    AttemptsExhausted,
    /// The peer asked for a wait above the policy's `max_hint`.
    HintOverLimit,
    /// The next attempt could not begin before the deadline, or the deadline passed.
    Deadline,
    /// The retry budget is spent.
    BudgetExhausted,
    /// The peer said in words of its own that a repeat is not wanted.
    PeerSaidNo,
    /// A circuit breaker is open.
    CircuitOpen,
    /// The destination asked everybody to stay away for a while.
    Cooldown,
    /// A bulkhead has no room.
    BulkheadFull,
    /// The route asks for an explicit operation key and the call has none.
    KeyRequired,
    /// The key is older than the peer promises to remember it.
    KeyExpired,
    /// A retry loop further out owns this call's repeats.
    OwnedUpstream,
    /// The caller went away.
    Cancelled,
}

impl Reason {
    /// Every reason, in the order of declaration.
    pub const ALL: [Self; 16] = [
        Self::NotRetryable,
        Self::Unprotected,
        Self::BodyNotReplayable,
        Self::Committed,
        Self::AttemptsExhausted,
        Self::HintOverLimit,
        Self::Deadline,
        Self::BudgetExhausted,
        Self::PeerSaidNo,
        Self::CircuitOpen,
        Self::Cooldown,
        Self::BulkheadFull,
        Self::KeyRequired,
        Self::KeyExpired,
        Self::OwnedUpstream,
        Self::Cancelled,
    ];

    /// The name used in events, metrics and logs.
    ///
    /// ```
    /// assert_eq!(steadfast_core::Reason::BudgetExhausted.as_str(), "budget_exhausted");
    /// ```
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotRetryable => "not_retryable",
            Self::Unprotected => "unprotected",
            Self::BodyNotReplayable => "body_not_replayable",
            Self::Committed => "committed",
            Self::AttemptsExhausted => "attempts_exhausted",
            Self::HintOverLimit => "hint_over_limit",
            Self::Deadline => "deadline",
            Self::BudgetExhausted => "budget_exhausted",
            Self::PeerSaidNo => "peer_said_no",
            Self::CircuitOpen => "circuit_open",
            Self::Cooldown => "cooldown",
            Self::BulkheadFull => "bulkhead_full",
            Self::KeyRequired => "key_required",
            Self::KeyExpired => "key_expired",
            Self::OwnedUpstream => "owned_upstream",
            Self::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
