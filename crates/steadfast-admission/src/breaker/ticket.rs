//! The life of one call that a breaker let through.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use super::BreakerConfig;
use super::circuit::{Admitted, Circuit, Outcome};
use crate::clock;

/// Told what the call showed, once; dropped before, it showed nothing, and a probe's place is free
/// again.
pub(super) struct Ticket(Option<Open>);

struct Open {
    door: Arc<Door>,
    admitted: Admitted,
    /// Where slow calls are counted.
    started: Option<Instant>,
}

/// A way to a circuit: one for each thread where one circuit is for all, so that no two threads
/// count references in the same place.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Door {
    pub(super) circuit: Arc<Circuit>,
    /// How calls that go this way are judged.
    pub(super) config: Arc<BreakerConfig>,
}

impl Ticket {
    #[inline]
    pub(super) fn new(door: Arc<Door>, admitted: Admitted) -> Self {
        let counts_slow = door.config.rules.slow.is_some();
        let started = counts_slow.then(clock::now);
        Self(Some(Open {
            door,
            admitted,
            started,
        }))
    }

    /// Of a call that nobody counts.
    pub(super) const fn free() -> Self {
        Self(None)
    }

    /// By what it is judged, until the call has shown something.
    #[inline]
    pub(super) fn config(&self) -> Option<&BreakerConfig> {
        self.0.as_ref().map(|open| &*open.door.config)
    }

    /// The call showed this.
    #[inline]
    pub(super) fn settle(&mut self, outcome: Outcome) {
        if let Some(open) = self.0.take() {
            open.settle(outcome);
        }
    }
}

impl Open {
    #[inline]
    fn settle(self, outcome: Outcome) {
        let took = self
            .started
            .map(|started| clock::now().saturating_duration_since(started));
        self.door
            .circuit
            .record(self.admitted, outcome, took, clock::now);
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        // A call in a closed circuit that showed nothing changes nothing.
        if let Some(open) = self.0.take().filter(|open| open.admitted.probe != 0) {
            open.settle(Outcome::Nothing);
        }
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let admitted = self.0.as_ref().map(|open| open.admitted);
        f.debug_tuple("Ticket").field(&admitted).finish()
    }
}
