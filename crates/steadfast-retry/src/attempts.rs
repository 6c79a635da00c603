use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};

use steadfast_core::budget::{Ask, Ending, Permit, Sending};
use steadfast_core::decide::{BodyState, Decision, Next, Situation, Strictness, Terms, decide};
use steadfast_core::{
    Budget, CallContext, Criticality, Deadline, Delivery, Draws, Hint, Outcome, Reason, Report,
    Safety, Verdict,
};

use crate::{RetryConfig, RetryOverrides, clock};

/// The attempts of one call: what was sent, what may follow. It knows no HTTP.
pub(crate) struct Attempts {
    config: Arc<RetryConfig>,
    /// Where it is not the config's.
    budget: Option<Arc<dyn Budget>>,
    terms: Terms,
    owned: bool,
    safety: Safety,
    key_lives_until: Deadline,
    deadline: Deadline,
    started: Instant,
    criticality: Criticality,
    made: u32,
    /// Whether the attempt on its way is one of those made.
    counted: bool,
    /// Whether any attempt was more than a refusal of ours.
    went_out: bool,
    retries: u32,
    refusals_repeated: u32,
    admissions_awaited: u32,
    last_wait: Duration,
    unknown_before: bool,
    /// The attempt on its way, of which the budget has yet to be told.
    in_flight: Option<(Sending, Permit)>,
    draws: Option<Box<Draws>>,
}

/// What a call begins with.
pub(crate) struct Opening {
    /// Whether a loop further out repeats this call.
    pub(crate) owned: bool,
    pub(crate) started: Instant,
    pub(crate) budget: Option<Arc<dyn Budget>>,
    pub(crate) safety: Safety,
    pub(crate) key_lives_until: Deadline,
    pub(crate) deadline: Deadline,
    pub(crate) overrides: Option<RetryOverrides>,
}

/// What an attempt brought, before anything is decided.
#[derive(Clone, Copy)]
pub(crate) struct Brought {
    pub(crate) verdict: Verdict,
    pub(crate) hint: Hint,
    pub(crate) throttled: bool,
    pub(crate) admitted_in: Option<Duration>,
}

impl Brought {
    pub(crate) const fn new(verdict: Verdict) -> Self {
        Self {
            verdict,
            hint: Hint::None,
            throttled: false,
            admitted_in: None,
        }
    }
}

/// The end of a call.
#[derive(Clone, Copy)]
pub(crate) struct End {
    pub(crate) report: Report,
    /// The attempt that ended it did not leave: an earlier answer is the last word.
    pub(crate) unsent: bool,
}

/// The next attempt, or why there is none; `None` after a success.
pub(crate) type Decided = Result<Next<Permit>, Option<Reason>>;

impl Attempts {
    pub(crate) fn begin(config: &Arc<RetryConfig>, opening: Opening) -> Self {
        let started = opening.started;
        let (mut terms, mut total_limit) = (config.terms, config.total_limit);
        if let Some(overrides) = opening.overrides {
            overrides.apply(&mut terms, &mut total_limit);
        }
        if opening.owned {
            terms.max_attempts = NonZeroU32::MIN;
        }
        let deadline = Deadline::after(started, total_limit)
            .earliest(opening.deadline)
            .earliest(CallContext::current_deadline());
        Self {
            config: config.clone(),
            budget: opening.budget,
            terms,
            owned: opening.owned,
            safety: opening.safety,
            key_lives_until: opening.key_lives_until,
            deadline,
            started,
            criticality: CallContext::current_criticality(),
            made: 0,
            counted: false,
            went_out: false,
            retries: 0,
            refusals_repeated: 0,
            admissions_awaited: 0,
            last_wait: Duration::ZERO,
            unknown_before: false,
            in_flight: None,
            draws: None,
        }
    }

    pub(crate) fn config(&self) -> &RetryConfig {
        &self.config
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

    pub(crate) const fn max(&self) -> u32 {
        self.terms.max_attempts.get()
    }

    /// Whether an earlier attempt may have taken effect.
    pub(crate) const fn unknown_before(&self) -> bool {
        self.unknown_before
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
        let strict = self.terms.strictness == Strictness::Strict;
        self.max() > 1 && !(strict && self.safety == Safety::Unprotected)
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
        self.send(true, Permit::free());
    }

    /// The next attempt goes out.
    pub(crate) fn on_sent(&mut self, counted: bool, mut permit: Permit) {
        permit.sent();
        self.refusals_repeated += u32::from(!counted);
        self.send(counted, permit);
    }

    fn send(&mut self, counted: bool, permit: Permit) {
        self.counted = counted;
        self.made += u32::from(counted);
        let sending = if self.went_out {
            Sending::Retry
        } else {
            Sending::First
        };
        if sending == Sending::First {
            self.budget().on_call(self.started);
        }
        self.in_flight = Some((sending, permit));
    }

    /// How the attempt on its way ended; the budget is told once for each attempt.
    pub(crate) fn settle(&mut self, ending: Ending) {
        let Some((sending, permit)) = self.in_flight.take() else {
            return;
        };
        self.went_out |= ending != Ending::NotSent;
        self.budget().on_outcome(sending, ending, self.started);
        if ending == Ending::Success {
            permit.succeeded();
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

    /// What follows from it.
    pub(crate) fn decide(&mut self, brought: Brought, body: BodyState, now: Instant) -> Decided {
        let situation = Situation {
            verdict: brought.verdict,
            safety: self.safety,
            body,
            attempts: self.made,
            retries: self.retries,
            refusals_repeated: self.refusals_repeated,
            admissions_awaited: self.admissions_awaited,
            admitted_in: brought.admitted_in,
            hint: brought.hint,
            throttled: brought.throttled,
            last_wait: self.last_wait,
            now,
            deadline: self.deadline,
            key_lives_until: self.key_lives_until,
        };
        let mut ask = Ask::new(now);
        ask.throttled = brought.throttled;
        ask.criticality = self.criticality;
        let Self {
            config,
            budget,
            draws,
            ..
        } = self;
        let budget = budget.as_ref().unwrap_or(&config.budget);
        let draw = || {
            draws
                .get_or_insert_with(|| Box::new(config.random.draws()))
                .draw()
        };
        let reserve = || budget.reserve(ask);
        let next = match decide(&self.terms, &situation, draw, reserve) {
            Decision::Done => return Err(None),
            Decision::Stop(Reason::AttemptsExhausted) if self.owned => {
                return Err(Some(Reason::OwnedUpstream));
            }
            Decision::Stop(reason) => return Err(Some(reason)),
            Decision::Retry(next) => next,
        };
        self.unknown_before |= brought.verdict.delivery() == Some(Delivery::Unknown);
        self.admissions_awaited += u32::from(next.permit.is_none());
        self.last_wait = next.wait;
        self.retries += u32::from(next.counted);
        if let Hint::Exactly(_) = brought.hint {
            // Pushback begins the backoff anew (gRFC A6).
            self.retries = 0;
            self.last_wait = Duration::ZERO;
        }
        Ok(next)
    }

    /// The call ends, its last attempt having ended with `last`.
    pub(crate) fn end(&self, last: Verdict, reason: Option<Reason>, now: Instant) -> End {
        let outcome = Outcome::of(last, self.unknown_before);
        let report = Report::new(self.made, self.elapsed(now), reason, outcome);
        End {
            report,
            unsent: last.delivery() == Some(Delivery::Unsent),
        }
    }

    /// As [`end`](Self::end), where nobody asks how long it took.
    pub(crate) fn end_unmeasured(&self, last: Verdict, reason: Option<Reason>) -> End {
        self.end(last, reason, self.started)
    }
}

/// Whoever drops a call that is under way says nothing about the peer.
impl Drop for Attempts {
    fn drop(&mut self) {
        self.settle(Ending::Neither);
    }
}
