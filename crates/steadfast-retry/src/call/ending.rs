use std::error::Error;
use std::time::Instant;

use steadfast_core::budget::Ending;
use steadfast_core::{Delivery, Ended, Event, Outcome, Reason, Report, Verdict};

use super::Call;
use crate::clock;

/// The end of a call.
#[derive(Clone, Copy)]
pub(crate) struct End {
    pub(crate) report: Report,
    /// The attempt that ended it did not leave: an earlier answer is the last word.
    pub(crate) unsent: bool,
}

impl Call {
    /// The call ends because its time is over, while an attempt was or was not on its way.
    pub(crate) fn out_of_time(&mut self, in_flight: bool) -> End {
        // A peer that has not answered when all time is over has failed.
        self.tell_budget(Ending::Failure);
        let delivery = if in_flight {
            Delivery::Unknown
        } else {
            Delivery::Unsent
        };
        self.end(
            Verdict::Transient(delivery),
            Some(Reason::Deadline),
            clock::now(),
        )
    }

    /// The call ends because the next body cannot be had after all.
    pub(crate) fn no_body(&mut self) -> End {
        let last = Verdict::Transient(Delivery::Unknown);
        self.end(last, Some(Reason::BodyNotReplayable), clock::now())
    }

    /// The call ends because the inner service cannot be made ready.
    pub(crate) fn not_ready(&mut self, error: &(dyn Error + 'static)) -> End {
        let reason = match self.config.classify.error(error) {
            Verdict::Rejected(reason) => reason,
            _ => Reason::NotRetryable,
        };
        self.end(
            Verdict::Permanent(Delivery::Unsent),
            Some(reason),
            clock::now(),
        )
    }

    pub(super) fn end(&mut self, last: Verdict, reason: Option<Reason>, now: Instant) -> End {
        self.ended = true;
        let outcome = Outcome::of(last, self.unknown_before);
        let elapsed = now.saturating_duration_since(self.started);
        let report = Report::new(self.attempts, elapsed, reason, outcome);
        if let Some(observer) = &self.config.observer {
            observer.observe(&Event::Ended(Ended::new(self.subject(), report)));
        }
        End {
            report,
            unsent: last.delivery() == Some(Delivery::Unsent),
        }
    }
}

/// The caller went away: budget and observer are told.
impl Drop for Call {
    fn drop(&mut self) {
        self.tell_budget(Ending::Neither);
        if !self.ended && self.config.observer.is_some() {
            let delivery = if self.attempts == 0 {
                Delivery::Unsent
            } else {
                Delivery::Unknown
            };
            self.end(
                Verdict::Transient(delivery),
                Some(Reason::Cancelled),
                clock::now(),
            );
        }
    }
}
