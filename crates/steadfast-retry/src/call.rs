use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::{Method, StatusCode, request, response};
use steadfast_core::budget::{Ask, Ending, Permit, Sending};
use steadfast_core::decide::{BodyState, Decision, Next, Situation, Strictness, decide};
use steadfast_core::{
    Answer, Attempt, AttemptResult, CallContext, CallState, Criticality, Deadline, Delivery, Draws,
    Hint, Outcome, Reason, Report, Safety, SafetySources, Verdict,
};

use crate::{RetryConfig, clock};

mod ending;
mod telling;

pub(crate) use ending::End;

/// What one call knows: everything but its futures.
pub(crate) struct Call {
    config: Arc<RetryConfig>,
    /// The head of the first attempt, to make the later ones of; kept only where it is needed.
    template: Option<request::Parts>,
    method: Method,
    safety: Safety,
    key_lives_until: Deadline,
    deadline: Deadline,
    started: Instant,
    attempts: u32,
    /// Whether the attempt on its way is one of them.
    counted: bool,
    refusals_repeated: u32,
    /// The attempt on its way, of which the budget has yet to be told.
    in_flight: Option<(Sending, Permit)>,
    criticality: Criticality,
    last_wait: Duration,
    unknown_before: bool,
    draws: Option<Box<Draws>>,
    ended: bool,
}

/// What follows from an attempt.
pub(crate) enum Step {
    /// The call is over.
    End(End),
    /// Wait, then send again. `unsent` says that this attempt did not leave.
    Again { next: Next<Permit>, unsent: bool },
}

/// How one attempt went, before anything is decided.
struct Brought<'a> {
    result: AttemptResult<'a>,
    verdict: Verdict,
    hint: Hint,
    throttled: bool,
}

impl Call {
    /// Begins a call; changes the head into that of the first attempt.
    pub(crate) fn begin(config: &Arc<RetryConfig>, head: &mut request::Parts) -> Self {
        let started = clock::now();
        let state = CallState::of(&head.extensions);
        let key = state.and_then(CallState::key);
        let sources = SafetySources {
            explicit: state.and_then(CallState::safety),
            rule: None,
            keyed: key.is_some(),
        };
        let key_lives_until = key.map_or(Deadline::NONE, |key| key.lives_until());
        let deadline = Deadline::after(started, config.total_limit)
            .earliest(state.map_or(Deadline::NONE, CallState::deadline))
            .earliest(CallContext::current_deadline());
        let safety = Safety::decide(sources, &head.method, &head.headers);
        let has_state = state.is_some();
        let mut call = Self {
            config: config.clone(),
            template: None,
            method: head.method.clone(),
            safety,
            key_lives_until,
            deadline,
            started,
            attempts: 0,
            counted: false,
            refusals_repeated: 0,
            in_flight: None,
            criticality: CallContext::current_criticality(),
            last_wait: Duration::ZERO,
            unknown_before: false,
            draws: None,
            ended: false,
        };
        if call.may_repeat() || config.observer.is_some() {
            call.template = Some(head.clone());
        }
        // A state is changed where there is one; making one would cost every first attempt.
        if has_state {
            call.mark(head, 1);
        }
        call
    }

    /// Whether any outcome could lead to another attempt.
    pub(crate) fn may_repeat(&self) -> bool {
        let strict = self.config.terms.strictness == Strictness::Strict;
        self.config.terms.max_attempts.get() > 1 && !(strict && self.safety == Safety::Unprotected)
    }

    /// Whether the deadline came before anything was sent.
    pub(crate) fn starts_expired(&self) -> bool {
        self.deadline.is_expired(self.started)
    }

    /// The bytes of the request body to keep.
    pub(crate) fn replay_limit(&self) -> usize {
        self.config.replay_limit
    }

    /// The bytes of a failed answer to keep, and to read.
    pub(crate) fn answer_limits(&self) -> (usize, usize) {
        (self.config.keep_limit, self.config.drain_limit)
    }

    pub(crate) const fn deadline(&self) -> Deadline {
        self.deadline
    }

    /// The first attempt goes out.
    pub(crate) fn on_first_sent(&mut self) {
        self.attempts = 1;
        self.counted = true;
        self.in_flight = Some((Sending::First, Permit::free()));
        self.config.budget.on_call(self.started);
    }

    /// The head of the next attempt; `None` where none was to come.
    pub(crate) fn next_head(&self, counted: bool) -> Option<request::Parts> {
        let mut head = self.template.clone()?;
        self.mark(&mut head, self.attempts + u32::from(counted));
        Some(head)
    }

    /// The next attempt goes out.
    pub(crate) fn on_sent(&mut self, counted: bool, mut permit: Permit) {
        self.counted = counted;
        self.attempts += u32::from(counted);
        self.refusals_repeated += u32::from(!counted);
        permit.sent();
        self.in_flight = Some((Sending::Retry, permit));
    }

    /// Whether the deadline has come.
    pub(crate) fn is_expired(&self) -> bool {
        self.deadline.instant().is_some() && self.deadline.is_expired(clock::now())
    }

    fn mark(&self, head: &mut request::Parts, number: u32) {
        let max = self.config.terms.max_attempts.get();
        CallState::edit(&mut head.extensions, |state| {
            state.set_attempt(Attempt { number, max });
            state.tighten_deadline(self.deadline);
        });
    }

    /// An attempt was answered.
    pub(crate) fn on_answer(
        &mut self,
        head: &response::Parts,
        body: impl FnOnce() -> BodyState,
    ) -> Step {
        let mut answer = Answer::new(head.status, &head.headers);
        if head.status.as_u16() >= 400 {
            answer.hint = Hint::of(&head.headers, clock::wall);
            answer.keyed_after_unknown = self.safety == Safety::Keyed && self.unknown_before;
        }
        let brought = Brought {
            result: AttemptResult::Status(head.status),
            verdict: self.config.classify.answer(&answer),
            hint: answer.hint,
            throttled: head.status == StatusCode::TOO_MANY_REQUESTS,
        };
        self.on_ending(brought, body)
    }

    /// An attempt ended with an error.
    pub(crate) fn on_error(
        &mut self,
        error: &(dyn Error + 'static),
        body: impl FnOnce() -> BodyState,
    ) -> Step {
        let verdict = self.config.classify.error(error);
        if let Verdict::Rejected(_) = verdict {
            // A refusal of ours is no attempt: nothing was sent.
            self.attempts -= u32::from(self.counted);
        }
        let result = AttemptResult::Error(error);
        self.on_ending(
            Brought {
                result,
                verdict,
                hint: Hint::None,
                throttled: false,
            },
            body,
        )
    }

    fn on_ending(&mut self, brought: Brought<'_>, body: impl FnOnce() -> BodyState) -> Step {
        let verdict = brought.verdict;
        self.tell_budget(match verdict {
            Verdict::Success => Ending::Success,
            Verdict::Transient(_) | Verdict::Refused | Verdict::PeerSaidNo(_) => Ending::Failure,
            Verdict::Permanent(_) => Ending::Neither,
            Verdict::Rejected(_) => Ending::NotSent,
        });
        if verdict.is_success() && self.attempts <= 1 && self.config.observer.is_none() {
            // The common end: no clock is read for it.
            self.ended = true;
            let report = Report::new(1, Duration::ZERO, None, Outcome::Applied);
            return Step::End(End {
                report,
                unsent: false,
            });
        }
        let now = clock::now();
        let body = if verdict.is_success() {
            BodyState::Committed
        } else {
            body()
        };
        let decision = self.decide(&brought, body, now);
        self.tell_attempt(&brought, decision.as_ref().ok().map(|next| next.wait), now);
        match decision {
            Ok(next) => {
                self.unknown_before |= verdict.delivery() == Some(Delivery::Unknown);
                self.last_wait = next.wait;
                let unsent = verdict.delivery() == Some(Delivery::Unsent);
                Step::Again { next, unsent }
            }
            Err(reason) => Step::End(self.end(verdict, reason, now)),
        }
    }

    fn decide(
        &mut self,
        brought: &Brought<'_>,
        body: BodyState,
        now: Instant,
    ) -> Result<Next<Permit>, Option<Reason>> {
        let situation = Situation {
            verdict: brought.verdict,
            safety: self.safety,
            body,
            attempts: self.attempts,
            refusals_repeated: self.refusals_repeated,
            hint: brought.hint,
            throttled: brought.throttled,
            last_wait: self.last_wait,
            now,
            deadline: self.deadline,
            key_lives_until: self.key_lives_until,
        };
        let Self {
            config,
            draws,
            criticality,
            ..
        } = self;
        let draw = || {
            draws
                .get_or_insert_with(|| Box::new(config.random.draws()))
                .draw()
        };
        let mut ask = Ask::new(now);
        ask.throttled = brought.throttled;
        ask.criticality = *criticality;
        let reserve = || config.budget.reserve(ask);
        match decide(&config.terms, &situation, draw, reserve) {
            Decision::Done => Err(None),
            Decision::Retry(next) => Ok(next),
            Decision::Stop(reason) => Err(Some(reason)),
        }
    }
}
