//! What follows from an attempt: the decision, asked for with all that the call knows.

use std::time::{Duration, Instant};

use steadfast_core::budget::{Ask, Permit};
use steadfast_core::decide::{BodyState, Decision, Next, Situation, decide};
use steadfast_core::{Deadline, Delivery, Hint, Reason, Safety, Verdict};

use super::Attempts;
use crate::RetryConfig;

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

/// The next attempt, or why there is none; `None` after a success.
pub(crate) type Decided = Result<Next<Permit>, Option<Reason>>;

impl<C: AsRef<RetryConfig>> Attempts<C> {
    /// What follows from it.
    pub(crate) fn decide(
        &mut self,
        brought: Brought,
        safety: Safety,
        body: BodyState,
        key_lives_until: Deadline,
        now: Instant,
    ) -> Decided {
        let deadline = self.deadline();
        let Self {
            config,
            opening,
            history,
            counted,
            ..
        } = self;
        let config = config.as_ref();
        let history = history.get_or_insert_default();
        let situation = Situation {
            verdict: brought.verdict,
            safety,
            body,
            attempts: self.made,
            retries: history.retries,
            refusals_repeated: history.refusals_repeated,
            admissions_awaited: history.admissions_awaited,
            admitted_in: brought.admitted_in,
            hint: brought.hint,
            throttled: brought.throttled,
            last_wait: history.last_wait,
            now,
            deadline,
            key_lives_until,
        };
        let mut ask = Ask::new(now);
        ask.throttled = brought.throttled;
        ask.criticality = opening.criticality;
        ask.share = opening.share();
        let (terms, budget) = (opening.terms(config), opening.budget(config));
        let draws = &mut history.draws;
        let draw = || draws.get_or_insert_with(|| config.random.draws()).draw();
        // Of a retry that a layer of ours refused: for its repeat, else given back.
        let refused = history.permit.take();
        let mut next = match decide(terms, &situation, draw, || budget.reserve(ask)) {
            Decision::Done => return Err(None),
            Decision::Stop(Reason::AttemptsExhausted) if opening.is_owned() => {
                return Err(Some(Reason::OwnedUpstream));
            }
            Decision::Stop(reason) => return Err(Some(reason)),
            Decision::Retry(next) => next,
        };
        history.unknown |= brought.verdict.delivery() == Some(Delivery::Unknown);
        if next.permit.is_none() {
            // It takes the place of what a layer of ours refused, and counts as that did.
            history.admissions_awaited += 1;
            next.counted = *counted;
            next.permit = refused;
        }
        history.last_wait = next.wait;
        history.retries += u32::from(next.counted);
        if let Hint::Exactly(_) = brought.hint {
            // Pushback begins the backoff anew (gRFC A6).
            history.retries = 0;
            history.last_wait = Duration::ZERO;
        }
        Ok(next)
    }
}
