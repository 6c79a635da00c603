use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, Method};
use steadfast_core::{Deadline, Event, IgnoredHeader, Inbound, Observe, Safety, Subject};
use tokio::time::Instant;

use super::config::Mode;

/// What is told of it: the names of core's events.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Moment {
    Received,
    Refused,
    Expired,
    Met,
}

/// One request's time, and who is told of it.
#[derive(Clone)]
pub(crate) struct Watch {
    pub(crate) arrived: Instant,
    pub(crate) deadline: Deadline,
    pub(crate) told: Option<Duration>,
    pub(crate) mode: Mode,
    pub(crate) observed: Option<(Arc<dyn Observe>, Method)>,
}

impl Watch {
    /// Tells the observer, if there is one, about this request's end as it looks at `now`.
    pub(crate) fn tell(&self, now: Instant, moment: Moment) {
        let Some((observer, method)) = &self.observed else {
            return;
        };
        let left = self.deadline.left(now.into_std()).unwrap_or(Duration::MAX);
        let mut inbound = Inbound::new(subject(method), self.told, left);
        inbound.elapsed = now - self.arrived;
        inbound.enforced = self.mode == Mode::Enforce;
        observer.observe(&match moment {
            Moment::Received => Event::DeadlineReceived(inbound),
            Moment::Refused => Event::DeadlineRefused(inbound),
            Moment::Expired => Event::DeadlineExpired(inbound),
            Moment::Met => Event::DeadlineMet(inbound),
        });
    }
}

/// Tells of a header that could not be read.
pub(crate) fn tell_ignored(observer: &dyn Observe, method: &Method, name: &HeaderName) {
    let ignored = IgnoredHeader::new(subject(method), name);
    observer.observe(&Event::DeadlineIgnored(ignored));
}

fn subject(method: &Method) -> Subject<'_> {
    Subject::new(None, method, Safety::of_method(method))
}
