use std::error::Error;
use std::time::Instant;

use http::{Extensions, request};
use steadfast_core::budget::{Ending, Permit};
use steadfast_core::decide::{BodyState, Next};
use steadfast_core::{
    Attempt, AttemptResult, CallKey, CallState, Deadline, Delivery, Ended, Event, Reason, Report,
    RouteRule, Safety, Verdict,
};

use crate::attempts::{Attempts, Brought, End};
use crate::template::Template;
use crate::{Commit, RetryConfig, clock};

mod opened;
mod reading;
mod telling;

pub(crate) use opened::Opened;
pub(crate) use reading::Head;
use reading::safety;

/// One HTTP call: its attempts, the head that later ones are made of, and who is told.
pub(crate) struct Call<C: AsRef<RetryConfig>> {
    attempts: Attempts<C>,
    /// The head of the first attempt, to make the later ones of, and to tell observers of the call;
    /// kept only where one of these may happen.
    template: Option<Template>,
    /// What a repeat may do, where the template is not needed to say.
    safety: Option<Safety>,
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

impl<C: AsRef<RetryConfig>> Call<C> {
    /// Of a call that sends nothing.
    pub(crate) fn unsent(shared: C, opening: Opened, template: Option<Template>) -> Self {
        Self {
            attempts: Attempts::new(shared, opening.opening),
            template,
            safety: opening.safety,
            rule: opening.rule,
            owns: false,
            ended: false,
        }
    }

    /// Of a call whose first attempt has just gone out.
    #[inline(always)]
    pub(crate) fn sent(shared: C, opening: Opened, template: Option<Template>, owns: bool) -> Self {
        Self {
            attempts: Attempts::sent(shared, opening.opening),
            template,
            safety: opening.safety,
            rule: opening.rule,
            owns,
            ended: false,
        }
    }

    /// Whether layers below must leave the repeats to this one.
    #[inline]
    pub(crate) const fn owns(&self) -> bool {
        self.owns
    }

    /// What a repeat of the request may do.
    #[inline]
    pub(crate) fn safety(&self) -> Safety {
        match (self.safety, &self.template) {
            (Some(safety), _) => safety,
            (None, Some(template)) => safety(self.rule(), template.view()),
            // Never both missing.
            (None, None) => Safety::Unprotected,
        }
    }

    fn rule(&self) -> Option<&RouteRule> {
        self.rule.map(|at| &self.config().rules[at as usize])
    }

    /// Whether any outcome could lead to another attempt.
    #[inline]
    pub(crate) fn may_repeat(&self) -> bool {
        self.attempts.may_repeat(|| self.safety())
    }

    pub(crate) fn config(&self) -> &RetryConfig {
        self.attempts.config()
    }

    /// What the config is shared by.
    pub(crate) const fn shared(&self) -> &C {
        self.attempts.shared()
    }

    #[inline]
    pub(crate) const fn attempts(&mut self) -> &mut Attempts<C> {
        &mut self.attempts
    }

    pub(crate) fn deadline(&self) -> Deadline {
        self.attempts.deadline()
    }

    /// The head of the next attempt; `None` where none was to come.
    pub(crate) fn next_head(&self, counted: bool) -> Option<request::Parts> {
        let mut head = self.template.as_ref()?.head();
        let number = self.attempts.made() + u32::from(counted);
        if let Some(mark) = &self.config().owner_mark {
            // The repeat of a protocol refusal is no attempt of its own.
            match self.attempts.told(self.owns, number) {
                Some(owner) => mark.write(&mut head.headers, owner),
                None => mark.remove(&mut head.headers),
            }
        }
        self.mark(&mut head.extensions, number);
        Some(head)
    }

    fn mark(&self, extensions: &mut Extensions, number: u32) {
        let max = self.attempts.max();
        mark(
            extensions,
            Attempt { number, max },
            self.attempts.deadline(),
            self.owns,
        );
    }

    /// The common end, a success with the first attempt that nobody observes: no clock is read.
    /// False where it is not this one.
    #[inline]
    pub(crate) fn succeeds_at_once(&mut self, head: Head<'_>) -> bool {
        let common = self.attempts.made() <= 1 && self.is_told_to_nobody(head);
        if common {
            self.attempts.succeed_at_once();
            self.ended = true;
        }
        common
    }

    /// The same for a later attempt: how the call went.
    #[inline]
    pub(crate) fn succeeds(&mut self, head: Head<'_>) -> Option<Report> {
        if !self.is_told_to_nobody(head) {
            return None;
        }
        self.attempts.on_verdict(Verdict::Success);
        self.ended = true;
        let now = self.attempts.now();
        Some(self.attempts.end(Verdict::Success, None, now).report)
    }

    #[inline]
    fn is_told_to_nobody(&self, head: Head<'_>) -> bool {
        let config = self.config();
        config.observer.is_none()
            && !matches!(self.attempts.commit(), Commit::WholeBody { .. })
            && self.is_plain_success(head)
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
        let now = self.attempts.now();
        if verdict.is_success() {
            self.tell_attempt(brought, result, None, now);
            return Step::End(self.end_at(verdict, None, now));
        }
        let safety = self.safety();
        let key_lives_until = match safety {
            Safety::Keyed => self.key_lives_until(),
            _ => Deadline::NONE,
        };
        let decided = self
            .attempts
            .decide(brought, safety, body(), key_lives_until, now);
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
        if self.safety() != Safety::Keyed {
            return false;
        }
        let lives_until = self.key_lives_until();
        lives_until != Deadline::NONE && lives_until.is_expired(clock::now())
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
            .and_then(|template| template.view().state);
        let key = state.and_then(CallState::key);
        key.map_or(Deadline::NONE, CallKey::lives_until)
    }
}

fn mark(extensions: &mut Extensions, attempt: Attempt, deadline: Deadline, owns: bool) {
    CallState::edit(extensions, |state| {
        state.set_attempt(attempt);
        state.tighten_deadline(deadline);
        if owns {
            state.set_owned();
        }
    });
}
