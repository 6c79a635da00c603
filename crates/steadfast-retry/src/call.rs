use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use http::request;
use steadfast_core::budget::{Ending, Permit, Target};
use steadfast_core::decide::{BodyState, Next};
use steadfast_core::{
    Attempt, AttemptResult, CallKey, CallState, Deadline, Delivery, Ended, Event, Reason,
    RouteRule, Safety, Verdict, is_owned,
};

use crate::attempts::{Attempts, Brought, End, Opening};
use crate::{RetryConfig, RetryOverrides, clock};

mod reading;
mod telling;

pub(crate) use reading::Head;
use reading::safety;

/// One HTTP call: its attempts, the head that later ones are made of, and who is told.
pub(crate) struct Call {
    attempts: Attempts,
    /// The head of the first attempt, to make the later ones of, and to tell observers of the call;
    /// kept only where one of these may happen.
    template: Option<request::Parts>,
    /// The place of the route's rule in the config.
    rule: Option<u32>,
    owns: bool,
    ended: bool,
}

/// What follows from an attempt.
pub(crate) enum Step {
    /// The call is over.
    End(End),
    /// Wait, then send again. `unsent` says that this attempt did not leave.
    Again { next: Next<Permit>, unsent: bool },
}

impl Call {
    /// Begins a call; changes the head into that of the first attempt.
    pub(crate) fn begin(config: &Arc<RetryConfig>, head: &mut request::Parts) -> Self {
        let matches = |rule: &RouteRule| {
            rule.matches(&head.method, &head.uri, &head.headers, &head.extensions)
        };
        let rule = config.rules.iter().position(matches);
        let state = CallState::of(&head.extensions);
        let started = clock::now();
        let target = || Target::of(&head.method, &head.uri, &head.headers, &head.extensions);
        let budget_for = config.budget_for.as_ref();
        let opening = Opening {
            started,
            owned: is_owned() || state.is_some_and(CallState::is_owned),
            budget: budget_for.map(|choice| choice.budget_for(target(), started)),
            safety: safety(rule.map(|at| &config.rules[at]), state, head),
            deadline: state.map_or(Deadline::NONE, CallState::deadline),
            overrides: head.extensions.get::<RetryOverrides>().copied(),
        };
        let attempts = Attempts::begin(config, opening);
        let observed = config.observer.is_some();
        let template = (observed || attempts.may_resend()).then(|| head.clone());
        let rule = rule.map(|at| at as u32);
        let call = Self {
            attempts,
            template,
            rule,
            owns: false,
            ended: false,
        };
        if call.attempts.is_owned() {
            call.tell(Event::PassedThrough);
        }
        call
    }

    /// Marks the first attempt, and takes ownership of the call's repeats where it can repeat it.
    pub(crate) fn open(&mut self, head: &mut request::Parts, replayable: bool) {
        self.owns = replayable && self.may_repeat();
        // A state is changed where there is one; making one would cost every first attempt.
        if CallState::of(&head.extensions).is_some() {
            self.mark(head, 1);
        }
    }

    /// Whether layers below must leave the repeats to this one.
    pub(crate) const fn owns(&self) -> bool {
        self.owns
    }

    /// Whether any outcome could lead to another attempt.
    pub(crate) fn may_repeat(&self) -> bool {
        self.attempts.may_repeat()
    }

    /// Whether the request may have to be sent again, also after a refusal of ours.
    pub(crate) fn may_resend(&self) -> bool {
        self.attempts.may_resend()
    }

    pub(crate) fn config(&self) -> &RetryConfig {
        self.attempts.config()
    }

    pub(crate) const fn attempts(&mut self) -> &mut Attempts {
        &mut self.attempts
    }

    pub(crate) const fn deadline(&self) -> Deadline {
        self.attempts.deadline()
    }

    /// The head of the next attempt; `None` where none was to come.
    pub(crate) fn next_head(&self, counted: bool) -> Option<request::Parts> {
        let mut head = self.template.clone()?;
        self.mark(&mut head, self.attempts.made() + u32::from(counted));
        Some(head)
    }

    fn mark(&self, head: &mut request::Parts, number: u32) {
        let max = self.attempts.max();
        CallState::edit(&mut head.extensions, |state| {
            state.set_attempt(Attempt { number, max });
            state.tighten_deadline(self.attempts.deadline());
            if self.owns {
                state.set_owned();
            }
        });
    }

    /// The common end, a success with the first attempt that nobody observes: no clock is read.
    /// False where it is not this one.
    pub(crate) fn succeed_at_once(&mut self) -> bool {
        let common = self.attempts.made() <= 1 && self.config().observer.is_none();
        if common {
            self.attempts.on_verdict(Verdict::Success);
            self.ended = true;
        }
        common
    }

    /// An attempt ended: what follows.
    pub(crate) fn on_ending(
        &mut self,
        brought: Brought,
        result: AttemptResult<'_>,
        body: impl FnOnce() -> BodyState,
    ) -> Step {
        let verdict = brought.verdict;
        self.attempts.on_verdict(verdict);
        let now = clock::now();
        let body = if verdict.is_success() {
            BodyState::Committed
        } else {
            body()
        };
        let decided = self
            .attempts
            .decide(brought, body, self.key_lives_until(), now);
        self.tell_attempt(
            brought,
            result,
            decided.as_ref().ok().map(|next| next.wait),
            now,
        );
        match decided {
            Ok(next) => Step::Again {
                next,
                unsent: verdict.delivery() == Some(Delivery::Unsent),
            },
            Err(reason) => Step::End(self.end_at(verdict, reason, now)),
        }
    }

    /// The call ends because its time is over, while an attempt was or was not on its way.
    pub(crate) fn out_of_time(&mut self, in_flight: bool) -> End {
        // A peer that has not answered when all time is over has failed.
        self.attempts.settle(Ending::Failure);
        let delivery = if in_flight {
            Delivery::Unknown
        } else {
            Delivery::Unsent
        };
        self.end(Verdict::Transient(delivery), Reason::Deadline)
    }

    /// Whether the peer may have forgotten the call's key by now.
    pub(crate) fn key_is_expired(&self) -> bool {
        let lives_until = self.key_lives_until();
        self.attempts.safety() == Safety::Keyed
            && lives_until != Deadline::NONE
            && lives_until.is_expired(clock::now())
    }

    /// The call ends because it took so long to get ready that the key has died.
    pub(crate) fn out_of_key(&mut self) -> End {
        self.end(Verdict::Transient(Delivery::Unsent), Reason::KeyExpired)
    }

    /// The call ends because the next body cannot be had after all.
    pub(crate) fn no_body(&mut self) -> End {
        self.end(
            Verdict::Transient(Delivery::Unknown),
            Reason::BodyNotReplayable,
        )
    }

    /// The call ends because the inner service cannot be made ready.
    pub(crate) fn not_ready(&mut self, error: &(dyn Error + 'static)) -> End {
        let reason = match self.config().classify.error(error) {
            Verdict::Rejected(reason) => reason,
            _ => Reason::NotRetryable,
        };
        self.end(Verdict::Permanent(Delivery::Unsent), reason)
    }

    fn end(&mut self, last: Verdict, reason: Reason) -> End {
        self.end_at(last, Some(reason), clock::now())
    }

    fn end_at(&mut self, last: Verdict, reason: Option<Reason>, now: Instant) -> End {
        self.ended = true;
        let end = self.attempts.end(last, reason, now);
        self.tell(|subject| Event::Ended(Ended::new(subject, end.report)));
        end
    }

    fn key_lives_until(&self) -> Deadline {
        let state = self
            .template
            .as_ref()
            .and_then(|head| CallState::of(&head.extensions));
        let key = state.and_then(CallState::key);
        key.map_or(Deadline::NONE, CallKey::lives_until)
    }
}
