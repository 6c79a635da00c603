use std::time::{Duration, Instant};

use steadfast_core::budget::{Ending, Sending};
use steadfast_core::{Attempted, Event, Subject, Verdict, destination};

use super::{Brought, Call};

/// Who is told what: the budget of outcomes, the observer of attempts.
impl Call {
    pub(super) fn tell_budget(&self, verdict: Verdict) {
        let first = self.attempts == 1 && self.refusals_repeated == 0;
        if first {
            // Only now, because a call that we refused ourselves earns nothing.
            self.config.budget.on_call(self.started);
        }
        let ending = match verdict {
            Verdict::Success => Ending::Success,
            Verdict::Transient(_) | Verdict::Refused | Verdict::PeerSaidNo(_) => Ending::Failure,
            Verdict::Permanent(_) | Verdict::Rejected(_) => return,
        };
        let sending = if first {
            Sending::First
        } else {
            Sending::Retry
        };
        self.config.budget.on_outcome(sending, ending, self.started);
    }

    pub(super) fn tell_attempt(&self, brought: &Brought<'_>, wait: Option<Duration>, now: Instant) {
        let Some(observer) = &self.config.observer else {
            return;
        };
        let mut event = Attempted::new(
            self.subject(),
            self.attempts,
            brought.result,
            brought.verdict,
        );
        event.hint = brought.hint;
        event.wait = wait;
        event.elapsed = now.saturating_duration_since(self.started);
        event.left = self.deadline.left(now);
        observer.observe(&Event::Attempted(event));
    }

    pub(super) fn subject(&self) -> Subject<'_> {
        let destination = self
            .template
            .as_ref()
            .and_then(|head| destination(&head.uri, &head.headers, &head.extensions));
        Subject::new(destination, &self.method, self.safety)
    }
}
