use std::time::Duration;

use crate::{Delivery, Reason, Verdict};

/// What is known at the end about the effect of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The peer did not act on any attempt.
    NotApplied,
    /// The peer acted and said so.
    Applied,
    /// An attempt may have taken effect; look it up before doing it again.
    Unknown,
}

impl Outcome {
    /// The name used in events, metrics and logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotApplied => "not_applied",
            Self::Applied => "applied",
            Self::Unknown => "unknown",
        }
    }

    /// The outcome of a call whose last attempt ended with `last`, where `unknown_before` says
    /// whether an earlier attempt's delivery is unknown.
    ///
    /// A refusal says nothing about an earlier attempt: after an unknown one the call stays
    /// unknown until a success arrives.
    pub const fn of(last: Verdict, unknown_before: bool) -> Self {
        match last.delivery() {
            None => Self::Applied,
            Some(Delivery::Unknown) => Self::Unknown,
            Some(_) if unknown_before => Self::Unknown,
            Some(_) => Self::NotApplied,
        }
    }
}

/// How a call went, beside its answer or error.
///
/// Retry puts it into the extensions of a response that took more than one attempt or that it
/// stopped at, and into every [`Failure`](crate::Failure).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Attempts made, the first included; protocol refusals do not count.
    pub attempts: u32,
    /// From the call's start to its end, waits included.
    pub elapsed: Duration,
    /// Why no further attempt was made; `None` after a success.
    pub reason: Option<Reason>,
    /// What is known about the effect.
    pub outcome: Outcome,
}

impl Report {
    /// A report of these facts.
    pub const fn new(
        attempts: u32,
        elapsed: Duration,
        reason: Option<Reason>,
        outcome: Outcome,
    ) -> Self {
        Self {
            attempts,
            elapsed,
            reason,
            outcome,
        }
    }
}
