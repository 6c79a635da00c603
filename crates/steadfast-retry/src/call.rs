use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::{Method, request};
use steadfast_core::budget::{Ending, Permit, Target};
use steadfast_core::decide::{BodyState, Next};
use steadfast_core::{
    Attempt, AttemptResult, Attempted, CallState, Deadline, Delivery, Ended, Event, Reason,
    Subject, Verdict, destination, is_owned,
};

use crate::attempts::{Attempts, Brought, End, Opening};
use crate::{RetryConfig, RetryOverrides, clock};

mod reading;

use reading::safety;

/// One HTTP call: its attempts, the head that later ones are made of, and who is told.
pub(crate) struct Call {
    attempts: Attempts,
    /// The head of the first attempt, to make the later ones of; kept only where it is needed.
    template: Option<request::Parts>,
    method: Method,
    /// The place of the route's rule in the config.
    rule: Option<usize>,
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
        let rules = config.rules.iter();
        let rule = rules.clone().position(|rule| {
            rule.matches(&head.method, &head.uri, &head.headers, &head.extensions)
        });
        let state = CallState::of(&head.extensions);
        let key = state.and_then(CallState::key);
        let started = clock::now();
        let target = || Target::of(&head.method, &head.uri, &head.headers, &head.extensions);
        let budget_for = config.budget_for.as_ref();
        let opening = Opening {
            started,
            owned: is_owned() || state.is_some_and(CallState::is_owned),
            budget: budget_for.map(|choice| choice.budget_for(target(), started)),
            safety: safety(rule.map(|at| &config.rules[at]), state, head),
            key_lives_until: key.map_or(Deadline::NONE, |key| key.lives_until()),
            deadline: state.map_or(Deadline::NONE, CallState::deadline),
            overrides: head.extensions.get::<RetryOverrides>().copied(),
        };
        let attempts = Attempts::begin(config, opening);
        let method = head.method.clone();
        let mut call = Self {
            attempts,
            template: None,
            method,
            rule,
            owns: false,
            ended: false,
        };
        if call.may_repeat() || config.observer.is_some() {
            call.template = Some(head.clone());
        }
        if let Some(observer) = config
            .observer
            .as_ref()
            .filter(|_| call.attempts.is_owned())
        {
            observer.observe(&Event::PassedThrough(call.subject()));
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

    /// An attempt ended: what follows.
    pub(crate) fn on_ending(
        &mut self,
        brought: Brought,
        result: AttemptResult<'_>,
        body: impl FnOnce() -> BodyState,
    ) -> Step {
        let verdict = brought.verdict;
        self.attempts.on_verdict(verdict);
        let observed = self.config().observer.is_some();
        if verdict.is_success() && self.attempts.made() <= 1 && !observed {
            // The common end: no clock is read for it.
            return Step::End(self.end_at(verdict, None, None));
        }
        let now = clock::now();
        let body = if verdict.is_success() {
            BodyState::Committed
        } else {
            body()
        };
        let decided = self.attempts.decide(brought, body, now);
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
            Err(reason) => Step::End(self.end_at(verdict, reason, Some(now))),
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
        self.end_at(last, Some(reason), Some(clock::now()))
    }

    /// Without an instant, nobody is told and no time is reported.
    fn end_at(&mut self, last: Verdict, reason: Option<Reason>, now: Option<Instant>) -> End {
        self.ended = true;
        let end = match now {
            Some(now) => self.attempts.end(last, reason, now),
            None => self.attempts.end_unmeasured(last, reason),
        };
        if let Some(observer) = &self.config().observer {
            observer.observe(&Event::Ended(Ended::new(self.subject(), end.report)));
        }
        end
    }

    fn tell_attempt(
        &self,
        brought: Brought,
        result: AttemptResult<'_>,
        wait: Option<Duration>,
        now: Instant,
    ) {
        let Some(observer) = &self.config().observer else {
            return;
        };
        let made = self.attempts.made();
        let mut event = Attempted::new(self.subject(), made, result, brought.verdict);
        event.hint = brought.hint;
        event.wait = wait;
        event.elapsed = self.attempts.elapsed(now);
        event.left = self.attempts.deadline().left(now);
        observer.observe(&Event::Attempted(event));
    }

    fn subject(&self) -> Subject<'_> {
        let destination = self
            .template
            .as_ref()
            .and_then(|head| destination(&head.uri, &head.headers, &head.extensions));
        Subject::new(destination, &self.method, self.attempts.safety())
    }
}

/// The caller went away: the observer is told, and the budget by the attempts.
impl Drop for Call {
    fn drop(&mut self) {
        if !self.ended && self.config().observer.is_some() {
            let sent = self.attempts.made() > 0;
            let delivery = if sent {
                Delivery::Unknown
            } else {
                Delivery::Unsent
            };
            self.end(Verdict::Transient(delivery), Reason::Cancelled);
        }
    }
}
