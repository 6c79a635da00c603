use std::sync::Arc;

use steadfast_core::budget::{Ending, Permit};
use steadfast_core::decide::{BodyState, Next};
use steadfast_core::{
    AttemptResult, Attempted, BoxError, Cut, Deadline, Delivery, Elapsed, Ended, Event, Failure,
    Reason, Safety, Subject, Verdict,
};

use super::Judgement;
use crate::attempts::{Attempts, Brought, End};
use crate::{RetryConfig, clock};

/// How an operation goes, and who is told.
pub(super) struct Course {
    pub(super) attempts: Attempts<Arc<RetryConfig>>,
    safety: Safety,
    pub(super) name: Option<Arc<str>>,
    ended: bool,
}

impl Course {
    pub(super) const fn new(attempts: Attempts<Arc<RetryConfig>>, safety: Safety) -> Self {
        Self {
            attempts,
            safety,
            name: None,
            ended: false,
        }
    }

    /// Whether any outcome could lead to another attempt.
    pub(super) fn may_repeat(&self) -> bool {
        self.attempts.may_repeat(|| self.safety)
    }

    /// An attempt ended with this judgement: what follows.
    pub(super) fn on_ending(
        &mut self,
        Judgement { verdict, hint }: Judgement,
    ) -> Result<Next<Permit>, End> {
        self.attempts.on_verdict(verdict);
        let now = clock::now();
        let brought = Brought {
            hint,
            ..Brought::new(verdict)
        };
        let body = BodyState::Replayable;
        let decided = self
            .attempts
            .decide(brought, self.safety, body, Deadline::NONE, now);
        if let Some(observer) = &self.attempts.config().observer {
            let (made, result) = (self.attempts.made(), AttemptResult::Operation);
            let mut event = Attempted::new(self.subject(), made, result, verdict);
            event.hint = hint;
            event.wait = decided.as_ref().ok().map(|next| next.wait);
            event.elapsed = self.attempts.elapsed(now);
            event.left = self.attempts.deadline().left(now);
            observer.observe(&Event::Attempted(event));
        }
        decided.map_err(|reason| self.end(verdict, reason))
    }

    /// The operation ends because its time is over, while an attempt was or was not on its way.
    pub(super) fn out_of_time(&mut self, in_flight: bool) -> End {
        self.attempts.settle(Ending::Failure);
        self.end(in_time(in_flight), Some(Reason::Deadline))
    }

    fn end(&mut self, last: Verdict, reason: Option<Reason>) -> End {
        self.ended = true;
        let end = self.attempts.end(last, reason, clock::now());
        if let Some(observer) = &self.attempts.config().observer {
            observer.observe(&Event::Ended(Ended::new(self.subject(), end.report)));
        }
        end
    }

    fn subject(&self) -> Subject<'_> {
        Subject::operation(self.name.as_deref(), self.safety)
    }
}

/// What is known of an attempt that nobody waits for any longer.
const fn in_time(in_flight: bool) -> Verdict {
    Verdict::Transient(if in_flight {
        Delivery::Unknown
    } else {
        Delivery::Unsent
    })
}

/// The caller went away: the observer is told, and the budget by the attempts.
impl Drop for Course {
    fn drop(&mut self) {
        if !self.ended && self.attempts.config().observer.is_some() {
            let last = in_time(self.attempts.in_flight());
            self.end(last, Some(Reason::Cancelled));
        }
    }
}

pub(super) fn finish<T, E: Into<BoxError>>(
    end: End,
    last: Option<Result<T, E>>,
) -> Result<T, Failure> {
    match last {
        Some(Ok(value)) => Ok(value),
        Some(Err(error)) => Err(Failure::new(end.report, error)),
        None => Err(Failure::new(
            end.report,
            Elapsed::new(end.report.elapsed, Cut::Deadline),
        )),
    }
}
