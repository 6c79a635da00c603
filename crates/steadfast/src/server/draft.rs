use std::time::Duration;

use steadfast_admission::arrivals::ArrivalsConfig;
use steadfast_deadline::server::{InboundConfig, InboundTrust};

use super::InvalidPolicy;
use super::invalid::conflicts;

/// A server's policy that is being written; [`check`](Self::check) makes a [`Policy`] of it.
///
/// ```
/// use std::time::Duration;
/// use steadfast::server::Draft;
///
/// let error = Draft::new().with_maximum(Duration::ZERO).check().unwrap_err();
/// assert_eq!(error.to_string(), "deadline.maximum is 0s: every request is refused");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Draft {
    pub(super) arrivals: ArrivalsConfig,
    pub(super) deadline: InboundConfig,
}

impl Draft {
    /// What the layers do by default: retries above a fifth of what arrives are refused, and
    /// callers are believed in how long they wait.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the longest time of a request, whatever its caller says. Default: none.
    #[must_use]
    pub fn with_maximum(mut self, maximum: Duration) -> Self {
        self.deadline = self.deadline.with_maximum(maximum);
        self
    }

    /// Sets how much callers are believed. Default: [`InboundTrust::Deadline`].
    #[must_use]
    pub fn with_trust(mut self, trust: InboundTrust) -> Self {
        self.deadline = self.deadline.with_trust(trust);
        self
    }

    /// Sets everything about inbound deadlines. Its observer gives way to the layer's.
    #[must_use]
    pub fn with_deadline(mut self, deadline: InboundConfig) -> Self {
        self.deadline = deadline;
        self
    }

    /// Sets everything about arriving retries. Its observer gives way to the layer's.
    #[must_use]
    pub fn with_arrivals(mut self, arrivals: ArrivalsConfig) -> Self {
        self.arrivals = arrivals;
        self
    }

    /// What is done about inbound deadlines.
    pub const fn deadline(&self) -> &InboundConfig {
        &self.deadline
    }

    /// What is done about arriving retries.
    pub const fn arrivals(&self) -> &ArrivalsConfig {
        &self.arrivals
    }

    /// Looks at all parts together.
    ///
    /// # Errors
    ///
    /// Names every combination that could not do what it says.
    pub fn check(self) -> Result<Policy, InvalidPolicy> {
        match InvalidPolicy::of(conflicts(&self)) {
            Some(invalid) => Err(invalid),
            None => Ok(Policy(self)),
        }
    }
}

/// What a server's stack does: a [`Draft`] whose parts fit together.
#[derive(Clone, Debug, Default)]
pub struct Policy(Draft);

impl Policy {
    /// What it says.
    pub const fn as_draft(&self) -> &Draft {
        &self.0
    }

    /// The draft it was made of, to change it.
    pub fn into_draft(self) -> Draft {
        self.0
    }
}
