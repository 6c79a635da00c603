use std::error::Error;
use std::fmt;
use std::num::NonZeroU32;
use std::time::Duration;

use steadfast_core::Ratio;
use steadfast_core::budget::InvalidThrottle;

mod check;

pub(super) use check::conflicts;

/// Two parts of a policy that cannot go together, or one that can do nothing, under the names that
/// they have in a file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Conflict {
    /// A call has no time at all.
    NoCallLimit,
    /// An attempt has no time at all.
    NoAttemptTimeout,
    /// No attempt ever has its time.
    AttemptOutlastsCall {
        /// The attempt timeout.
        attempt: Duration,
        /// The call limit.
        call: Duration,
    },
    /// Attempts without end in a call without end.
    NoEnd,
    /// The backoff's cap cuts its base.
    CapBelowBase {
        /// The base.
        base: Duration,
        /// The cap.
        cap: Duration,
    },
    /// The first wait is as long as the call, so that there never is a second attempt.
    BaseOutlastsCall {
        /// The base.
        base: Duration,
        /// The call limit.
        call: Duration,
    },
    /// Attempts are allowed that the budget never allows.
    BudgetAllowsNothing {
        /// The attempts of a call.
        attempts: NonZeroU32,
    },
    /// The budget's numbers are none that a throttle can have.
    Throttle(InvalidThrottle),
    /// A part is left to the next hop, and nobody tells it.
    NextHopUntold,
    /// Calls that hang are forgotten before they are seen together.
    WindowTooShort {
        /// The breaker's window.
        window: Duration,
        /// The attempt timeout.
        attempt: Duration,
    },
    /// Nothing ever opens the breaker.
    BreakerNeverOpens {
        /// Its failure rate, above 100% or none.
        failure_rate: Option<Ratio>,
        /// The rate of slow calls, above 100% or none.
        slow_rate: Option<Ratio>,
    },
    /// A probe loses its place before its attempt can end.
    LeaseTooShort {
        /// The time that a probe has.
        lease: Duration,
        /// The attempt timeout.
        attempt: Duration,
    },
    /// A destination is forgotten while it matters what it did.
    ForgottenTooSoon {
        /// The time after which the breaker forgets a destination.
        idle: Duration,
        /// The longer of its window and its longest open time.
        needed: Duration,
    },
    /// No call ever waits so long for a place.
    WaitOutlastsCall {
        /// The longest wait for a place.
        wait: Duration,
        /// The call limit.
        call: Duration,
    },
    /// All places are kept for critical calls.
    NothingButReserve {
        /// The share kept.
        reserve: Ratio,
    },
    /// A repeat could come after its key has been forgotten.
    KeyForgotten {
        /// The shortest time that a route remembers a key.
        lifetime: Duration,
        /// The time of a whole call, within which repeats are sent.
        horizon: Duration,
    },
    /// Payments, and no route where a key is honoured.
    PaymentWithoutRoute,
    /// Every body ends at once.
    NoBodyTime,
    /// The margin leaves nothing of an attempt's time to tell.
    MarginTooWide {
        /// What is taken off the time told.
        margin: Duration,
        /// The attempt timeout.
        attempt: Duration,
    },
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCallLimit => f.write_str("call_limit is 0s: every call is refused"),
            Self::NoAttemptTimeout => f.write_str("attempt_timeout is 0s: every attempt fails"),
            Self::AttemptOutlastsCall { attempt, call } => write!(
                f,
                "attempt_timeout is {attempt:?}, longer than call_limit, {call:?}: no attempt \
                 ever has its time"
            ),
            Self::NoEnd => f.write_str(
                "retry.attempts and call_limit are both unlimited: a call to a peer that is down \
                 never ends",
            ),
            Self::CapBelowBase { base, cap } => write!(
                f,
                "retry.backoff_cap is {cap:?}, shorter than retry.backoff_base, {base:?}"
            ),
            Self::BaseOutlastsCall { base, call } => write!(
                f,
                "retry.backoff_base is {base:?}, not shorter than call_limit, {call:?}: the \
                 first wait may take the whole call"
            ),
            Self::BudgetAllowsNothing { attempts } => write!(
                f,
                "retry.attempts is {attempts}, but the budget never allows a retry: set 1 \
                 attempt, or a budget above nothing"
            ),
            Self::Throttle(invalid) => write!(f, "budget: {invalid}"),
            Self::NextHopUntold => f.write_str(
                "retry.next_hop leaves a part of the attempts to the next hop, but \
                 retry.owner_mark, which tells it, is not set",
            ),
            Self::WindowTooShort { window, attempt } => write!(
                f,
                "breaker.window is {window:?}, shorter than two attempt timeouts of {attempt:?}: \
                 calls that hang are never seen together"
            ),
            Self::BreakerNeverOpens {
                failure_rate,
                slow_rate,
            } => {
                f.write_str("breaker can never open: failure_rate is ")?;
                rate(f, *failure_rate)?;
                f.write_str(", slow_rate is ")?;
                rate(f, *slow_rate)?;
                f.write_str(", consecutive_failures is off; set one, or mode = \"off\"")
            }
            Self::LeaseTooShort { lease, attempt } => write!(
                f,
                "breaker.probe_lease is {lease:?}, shorter than attempt_timeout, {attempt:?}: a \
                 probe loses its place before it can end"
            ),
            Self::ForgottenTooSoon { idle, needed } => write!(
                f,
                "breaker.idle is {idle:?}, shorter than {needed:?}, which its window and its \
                 open time take: a destination is forgotten while it is open"
            ),
            Self::WaitOutlastsCall { wait, call } => write!(
                f,
                "bulkhead.max_wait is {wait:?}, longer than call_limit, {call:?}: no call waits \
                 so long"
            ),
            Self::NothingButReserve { reserve } => write!(
                f,
                "bulkhead.reserve is {}: only critical calls ever get a place",
                Percent(*reserve)
            ),
            Self::KeyForgotten { lifetime, horizon } => write!(
                f,
                "keys.lifetime is {lifetime:?}, shorter than the time in which a call is \
                 repeated, call_limit, {horizon:?}: the last repeat could take effect again"
            ),
            Self::PaymentWithoutRoute => f.write_str(
                "profile is payment, but keys.routes declares no route that honours keys: \
                 nothing could be repeated safely, and no key would be demanded",
            ),
            Self::NoBodyTime => {
                f.write_str("body.idle or body.total is 0s: every body ends with an error")
            }
            Self::MarginTooWide { margin, attempt } => write!(
                f,
                "propagation.margin is {margin:?}, not shorter than attempt_timeout, \
                 {attempt:?}: no attempt is ever sent"
            ),
        }
    }
}

fn rate(f: &mut fmt::Formatter<'_>, rate: Option<Ratio>) -> fmt::Result {
    match rate {
        Some(rate) => write!(f, "{}", Percent(rate)),
        None => f.write_str("off"),
    }
}

/// A ratio as a file says it.
struct Percent(Ratio);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", f64::from(self.0.as_millionths()) / 10_000.0)
    }
}

/// A policy whose parts do not fit together: every [`Conflict`] of it.
#[derive(Clone, Debug, PartialEq)]
pub struct InvalidPolicy(Vec<Conflict>);

impl InvalidPolicy {
    pub(super) fn of(conflicts: Vec<Conflict>) -> Option<Self> {
        (!conflicts.is_empty()).then_some(Self(conflicts))
    }

    /// All of them; at least one.
    pub fn conflicts(&self) -> &[Conflict] {
        &self.0
    }
}

impl fmt::Display for InvalidPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, conflict) in self.0.iter().enumerate() {
            if n > 0 {
                f.write_str("; ")?;
            }
            conflict.fmt(f)?;
        }
        Ok(())
    }
}

impl Error for InvalidPolicy {}
