use std::time::{Duration, Instant};

use steadfast_core::budget::Ending;
use steadfast_core::{Attempted, Event, Subject, destination};

use super::{Brought, Call};

/// Who is told what: the budget of outcomes, the observer of attempts.
impl Call {
    /// How the attempt on its way ended; once for each attempt.
    pub(super) fn tell_budget(&mut self, ending: Ending) {
        if let Some((sending, permit)) = self.in_flight.take() {
            self.config.budget.on_outcome(sending, ending, self.started);
            if ending == Ending::Success {
                permit.succeeded();
            }
        }
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
