//! What the layers tell that decide whether a call may go out.

use std::fmt;
use std::time::Duration;

use http::StatusCode;

use super::Subject;
use crate::Reason;

/// The state of a breaker's circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CircuitState {
    /// Calls pass and are counted.
    Closed,
    /// Calls are refused until the open time is over.
    Open,
    /// A few calls pass as probes.
    HalfOpen,
    /// Calls are refused until somebody says otherwise.
    HeldOpen,
    /// Calls pass and nothing is counted until somebody says otherwise.
    Disabled,
}

impl CircuitState {
    /// Every state, in the order of declaration.
    pub const ALL: [Self; 5] = [
        Self::Closed,
        Self::Open,
        Self::HalfOpen,
        Self::HeldOpen,
        Self::Disabled,
    ];

    /// The name used in events, metrics and logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HalfOpen => "half_open",
            Self::HeldOpen => "held_open",
            Self::Disabled => "disabled",
        }
    }
}

impl fmt::Display for CircuitState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a circuit went through.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CircuitChanged<'a> {
    /// Whose circuit it is; `None` where one circuit is for all.
    pub destination: Option<&'a str>,
    /// Before.
    pub from: CircuitState,
    /// From now on.
    pub to: CircuitState,
    /// What was counted when it opened: failures, or slow calls where those opened it.
    pub failures: u64,
    /// Of so many calls.
    pub calls: u64,
    /// How long it stays open, where that is so.
    pub open_for: Option<Duration>,
}

impl<'a> CircuitChanged<'a> {
    /// A change without counts.
    pub const fn new(destination: Option<&'a str>, from: CircuitState, to: CircuitState) -> Self {
        Self {
            destination,
            from,
            to,
            failures: 0,
            calls: 0,
            open_for: None,
        }
    }
}

/// A call that was refused, or would have been.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct AdmissionRefused<'a> {
    /// The call.
    pub subject: Subject<'a>,
    /// Why.
    pub reason: Reason,
    /// When another may be let through, if that is known.
    pub retry_in: Option<Duration>,
    /// Whether it was stopped; a layer in shadow mode only says so.
    pub enforced: bool,
}

impl<'a> AdmissionRefused<'a> {
    /// This call was stopped for this reason.
    pub const fn new(subject: Subject<'a>, reason: Reason) -> Self {
        Self {
            subject,
            reason,
            retry_in: None,
            enforced: true,
        }
    }
}

/// A pause that a peer asked for.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CooldownBegan<'a> {
    /// The call whose answer asked for it.
    pub subject: Subject<'a>,
    /// The answer's status.
    pub status: StatusCode,
    /// How long from now.
    pub wait: Duration,
}

impl<'a> CooldownBegan<'a> {
    /// This answer asked for this pause.
    pub const fn new(subject: Subject<'a>, status: StatusCode, wait: Duration) -> Self {
        Self {
            subject,
            status,
            wait,
        }
    }
}

/// A failure that an answer of the user's took the place of.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct FellBack<'a> {
    /// The call.
    pub subject: Subject<'a>,
    /// Why it failed.
    pub reason: Reason,
}

impl<'a> FellBack<'a> {
    /// This call failed for this reason.
    pub const fn new(subject: Subject<'a>, reason: Reason) -> Self {
        Self { subject, reason }
    }
}
