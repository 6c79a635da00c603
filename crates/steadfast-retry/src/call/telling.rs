//! Who is told of a call, and what.

use std::time::{Duration, Instant};

use steadfast_core::{
    AttemptResult, Attempted, Delivery, Event, Observe, Reason, Safety, Subject, Verdict,
    destination_of,
};

use super::Call;
use crate::RetryConfig;
use crate::attempts::Brought;
use crate::template::HeadView;

impl<C: AsRef<RetryConfig>> Call<C> {
    pub(super) fn tell_attempt(
        &self,
        brought: Brought,
        result: AttemptResult<'_>,
        wait: Option<Duration>,
        now: Instant,
    ) {
        let Some((observer, subject)) = self.observed() else {
            return;
        };
        let made = self.attempts.made();
        let mut event = Attempted::new(subject, made, result, brought.verdict);
        event.hint = brought.hint;
        event.wait = wait;
        event.elapsed = self.attempts.elapsed(now);
        event.left = self.attempts.deadline().left(now);
        observer.observe(&Event::Attempted(event));
    }

    pub(super) fn tell<'a>(&'a self, event: impl FnOnce(Subject<'a>) -> Event<'a>) {
        if let Some((observer, subject)) = self.observed() {
            observer.observe(&event(subject));
        }
    }

    fn observed(&self) -> Option<(&dyn Observe, Subject<'_>)> {
        let observer = self.config().observer.as_deref()?;
        let head = self.template.as_ref()?.view();
        Some((observer, subject(head, self.safety())))
    }
}

/// A call as observers know it.
pub(super) fn subject(head: HeadView<'_>, safety: Safety) -> Subject<'_> {
    let destination = destination_of(head.uri, head.headers, || head.state);
    Subject::new(destination, head.method, safety)
}

/// The caller went away: the observer is told, and the budget by the attempts.
impl<C: AsRef<RetryConfig>> Drop for Call<C> {
    #[inline]
    fn drop(&mut self) {
        if !self.ended && self.config().observer.is_some() {
            let sent = self.attempts.in_flight();
            let delivery = if sent {
                Delivery::Unknown
            } else {
                Delivery::Unsent
            };
            self.end(Verdict::Transient(delivery), Reason::Cancelled);
        }
    }
}
