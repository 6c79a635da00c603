use steadfast_core::budget::{Ending, Permit};
use steadfast_core::decide::{BodyState, Next};
use steadfast_core::{
    AttemptResult, Attempted, BoxError, Cut, Deadline, Delivery, Elapsed, Ended, Event, Failure,
    Reason, Subject, Verdict,
};

use super::Judgement;
use crate::attempts::{Attempts, Brought, End};
use crate::clock;

/// An attempt ended with this judgement: what follows, and who is told.
pub(super) fn on_ending(
    attempts: &mut Attempts,
    name: Option<&str>,
    Judgement { verdict, hint }: Judgement,
) -> Result<Next<Permit>, End> {
    attempts.on_verdict(verdict);
    let now = clock::now();
    let brought = Brought {
        hint,
        ..Brought::new(verdict)
    };
    let decided = attempts.decide(brought, BodyState::Replayable, Deadline::NONE, now);
    if let Some(observer) = &attempts.config().observer {
        let subject = Subject::operation(name, attempts.safety());
        let result = AttemptResult::Operation;
        let mut event = Attempted::new(subject, attempts.made(), result, verdict);
        event.hint = hint;
        event.wait = decided.as_ref().ok().map(|next| next.wait);
        event.elapsed = attempts.elapsed(now);
        event.left = attempts.deadline().left(now);
        observer.observe(&Event::Attempted(event));
    }
    decided.map_err(|reason| {
        let end = attempts.end(verdict, reason, now);
        tell_end(attempts, name, end);
        end
    })
}

pub(super) fn out_of_time(attempts: &mut Attempts, in_flight: bool) -> End {
    attempts.settle(Ending::Failure);
    let delivery = if in_flight {
        Delivery::Unknown
    } else {
        Delivery::Unsent
    };
    attempts.end(
        Verdict::Transient(delivery),
        Some(Reason::Deadline),
        clock::now(),
    )
}

pub(super) fn tell_end(attempts: &Attempts, name: Option<&str>, end: End) {
    if let Some(observer) = &attempts.config().observer {
        let subject = Subject::operation(name, attempts.safety());
        observer.observe(&Event::Ended(Ended::new(subject, end.report)));
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
