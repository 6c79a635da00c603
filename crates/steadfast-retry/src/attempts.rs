use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};

use steadfast_core::budget::{Ending, Permit, Sending};
use steadfast_core::decide::{Admission, Strictness, Terms};
use steadfast_core::{
    Budget, CallContext, Criticality, Deadline, Delivery, Draws, Outcome, Reason, Report, Safety,
    Verdict,
};

use crate::{RetryConfig, RetryOverrides, clock};

mod next;

pub(crate) use next::Brought;

/// The attempts of one call: what was sent, what may follow. It knows no HTTP.
///
/// Kept small: every call moves it, and most end with their first attempt.
pub(crate) struct Attempts {
    config: Arc<RetryConfig>,
    /// Where it is not the config's.
    budget: Option<Arc<dyn Budget>>,
    /// Where they are not the config's.
    terms: Option<Box<Terms>>,
    deadline: Deadline,
    started: Instant,
    made: u32,
    safety: Safety,
    criticality: Criticality,
    /// Whether a loop further out repeats this call.
    owned: bool,
    /// Whether the attempt on its way is one of those made.
    counted: bool,
    /// Whether any attempt was more than a refusal of ours.
    went_out: bool,
    /// Whether an attempt is on its way, of which the budget has yet to be told.
    in_flight: bool,
    /// From the first failure on.
    history: Option<Box<History>>,
}

/// What the attempts before this one left.
#[derive(Default)]
struct History {
    retries: u32,
    refusals_repeated: u32,
    admissions_awaited: u32,
    last_wait: Duration,
    unknown: bool,
    /// Of the retry on its way.
    permit: Option<Permit>,
    draws: Option<Draws>,
}

/// What a call begins with.
pub(crate) struct Opening {
    pub(crate) started: Instant,
    pub(crate) owned: bool,
    pub(crate) budget: Option<Arc<dyn Budget>>,
    pub(crate) safety: Safety,
    pub(crate) deadline: Deadline,
    pub(crate) overrides: Option<RetryOverrides>,
}

/// The end of a call.
#[derive(Clone, Copy)]
pub(crate) struct End {
    pub(crate) report: Report,
    /// The attempt that ended it did not leave: an earlier answer is the last word.
    pub(crate) unsent: bool,
}

impl Attempts {
    #[inline]
    pub(crate) fn begin(config: &Arc<RetryConfig>, opening: Opening) -> Self {
        let (mut terms, mut total_limit) = (None, config.total_limit);
        if opening.overrides.is_some() || opening.owned {
            let mut own = Box::new(config.terms);
            if let Some(overrides) = opening.overrides {
                overrides.apply(&mut own, &mut total_limit);
            }
            if opening.owned {
                own.max_attempts = NonZeroU32::MIN;
                own.admission = Admission::Stop;
            }
            terms = Some(own);
        }
        let (served_until, criticality) = CallContext::current_deadline_and_criticality();
        Self {
            config: config.clone(),
            budget: opening.budget,
            terms,
            deadline: Deadline::after(opening.started, total_limit)
                .earliest(opening.deadline)
                .earliest(served_until),
            started: opening.started,
            made: 0,
            safety: opening.safety,
            criticality,
            owned: opening.owned,
            counted: false,
            went_out: false,
            in_flight: false,
            history: None,
        }
    }

    pub(crate) fn config(&self) -> &RetryConfig {
        &self.config
    }

    fn terms(&self) -> &Terms {
        self.terms.as_deref().unwrap_or(&self.config.terms)
    }

    fn budget(&self) -> &dyn Budget {
        &**self.budget.as_ref().unwrap_or(&self.config.budget)
    }

    pub(crate) const fn safety(&self) -> Safety {
        self.safety
    }

    pub(crate) const fn deadline(&self) -> Deadline {
        self.deadline
    }

    pub(crate) const fn made(&self) -> u32 {
        self.made
    }

    pub(crate) fn max(&self) -> u32 {
        self.terms().max_attempts.get()
    }

    /// Whether an earlier attempt may have taken effect.
    pub(crate) fn unknown_before(&self) -> bool {
        self.history.as_ref().is_some_and(|history| history.unknown)
    }

    pub(crate) fn elapsed(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.started)
    }

    /// Whether a loop further out repeats this call.
    pub(crate) const fn is_owned(&self) -> bool {
        self.owned
    }

    /// Whether any outcome could lead to another attempt.
    pub(crate) fn may_repeat(&self) -> bool {
        let terms = self.terms();
        let strict = terms.strictness == Strictness::Strict;
        terms.max_attempts.get() > 1 && !(strict && self.safety == Safety::Unprotected)
    }

    /// Whether the request may have to be sent again, also after a refusal of ours.
    pub(crate) fn may_resend(&self) -> bool {
        self.may_repeat() || self.terms().admission == Admission::WaitOnce
    }

    /// Whether an attempt is on its way.
    pub(crate) const fn in_flight(&self) -> bool {
        self.in_flight
    }

    /// Whether the deadline came before anything was sent.
    pub(crate) fn starts_expired(&self) -> bool {
        self.deadline.is_expired(self.started)
    }

    /// Whether the deadline has come.
    pub(crate) fn is_expired(&self) -> bool {
        self.deadline.instant().is_some() && self.deadline.is_expired(clock::now())
    }

    /// The first attempt goes out.
    pub(crate) fn on_first_sent(&mut self) {
        self.send(true);
    }

    /// The next attempt goes out.
    pub(crate) fn on_sent(&mut self, counted: bool, permit: Permit) {
        let history = self.history.get_or_insert_default();
        history.refusals_repeated += u32::from(!counted);
        history.permit = Some(permit);
        self.send(counted);
    }

    fn send(&mut self, counted: bool) {
        self.counted = counted;
        self.made += u32::from(counted);
        self.in_flight = true;
        if !self.went_out {
            self.budget().on_call(self.started);
        }
    }

    /// How the attempt on its way ended; the budget is told once for each attempt.
    pub(crate) fn settle(&mut self, ending: Ending) {
        if !std::mem::take(&mut self.in_flight) {
            return;
        }
        let sending = if self.went_out {
            Sending::Retry
        } else {
            Sending::First
        };
        self.went_out |= ending != Ending::NotSent;
        self.budget().on_outcome(sending, ending, self.started);
        if ending == Ending::NotSent {
            // Not spent: it waits for what is decided.
            return;
        }
        let history = self.history.as_mut();
        if let Some(mut permit) = history.and_then(|history| history.permit.take()) {
            match ending {
                Ending::Success => permit.succeeded(),
                _ => permit.sent(),
            }
        }
    }

    /// An attempt ended with this verdict.
    pub(crate) fn on_verdict(&mut self, verdict: Verdict) {
        self.settle(match verdict {
            Verdict::Success => Ending::Success,
            Verdict::Transient(_) | Verdict::Refused | Verdict::PeerSaidNo(_) => Ending::Failure,
            Verdict::Permanent(_) => Ending::Neither,
            Verdict::Rejected(_) => Ending::NotSent,
        });
        if let Verdict::Rejected(_) = verdict {
            // A refusal of ours is no attempt: nothing was sent.
            self.made -= u32::from(self.counted);
        }
    }

    /// The call ends, its last attempt having ended with `last`.
    pub(crate) fn end(&self, last: Verdict, reason: Option<Reason>, now: Instant) -> End {
        let outcome = Outcome::of(last, self.unknown_before());
        End {
            report: Report::new(self.made, self.elapsed(now), reason, outcome),
            unsent: last.delivery() == Some(Delivery::Unsent),
        }
    }
}

/// Whoever drops a call that is under way says nothing about the peer.
impl Drop for Attempts {
    fn drop(&mut self) {
        self.settle(Ending::Neither);
    }
}
