//! Observers hear of changes in their order, one after the other, and under no lock.

use std::collections::VecDeque;
use std::time::Duration;

use steadfast_core::{CircuitChanged, CircuitState, Event};

use super::{Circuit, locked};
use crate::breaker::BreakerConfig;

/// Changes that nobody has been told of yet.
#[derive(Debug, Default)]
pub(super) struct Untold {
    changes: VecDeque<Change>,
    /// Whether somebody is telling, who will come to what is added meanwhile.
    telling: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    from: CircuitState,
    pub(super) to: CircuitState,
    pub(super) failures: u64,
    pub(super) calls: u64,
    pub(super) open_for: Option<Duration>,
}

impl Change {
    pub(super) const fn new(from: CircuitState, to: CircuitState) -> Self {
        Self {
            from,
            to,
            failures: 0,
            calls: 0,
            open_for: None,
        }
    }
}

impl Untold {
    /// To be told, if there is a change and somebody to be told of it.
    pub(super) fn push(&mut self, change: Change, config: &BreakerConfig) {
        if config.observer().is_some() && change.from != change.to {
            self.changes.push_back(change);
        }
    }

    fn next(&mut self) -> Option<Change> {
        if self.telling {
            return None;
        }
        let next = self.changes.pop_front();
        self.telling = next.is_some();
        next
    }
}

impl Circuit {
    /// Tells what is untold; after the locks, since an observer may look at the circuit. Where
    /// another thread is telling, or an observer has changed the circuit, that one goes on.
    pub(in crate::breaker) fn tell(&self) {
        while let Some(change) = self.next_untold() {
            let _telling = Telling(self);
            let config = self.phase.load().config.clone();
            if let Some(observer) = config.observer() {
                let destination = self.destination.as_deref();
                let mut told = CircuitChanged::new(destination, change.from, change.to);
                (told.failures, told.calls) = (change.failures, change.calls);
                told.open_for = change.open_for;
                observer.observe(&Event::CircuitChanged(told));
            }
        }
    }

    fn next_untold(&self) -> Option<Change> {
        locked(&self.history).untold.next()
    }
}

/// Given up also where an observer panics.
struct Telling<'a>(&'a Circuit);

impl Drop for Telling<'_> {
    fn drop(&mut self) {
        locked(&self.0.history).untold.telling = false;
    }
}
