//! A budget that writes down what it is told.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use steadfast::budget::{Ask, Budget, Ending, Permit, Sending};

/// Open or closed to retries; its clones are one.
#[derive(Clone, Debug)]
pub(crate) struct Till {
    open: bool,
    told: Arc<Mutex<Vec<(Sending, Ending)>>>,
}

impl Till {
    pub(crate) fn open() -> Self {
        Self {
            open: true,
            told: Arc::default(),
        }
    }

    /// It has nothing for retries.
    pub(crate) fn empty() -> Self {
        Self {
            open: false,
            told: Arc::default(),
        }
    }

    /// How the attempts ended that went out, in order: what was refused further below is not among
    /// them, and has cost nothing.
    pub(crate) fn told(&self) -> Vec<Ending> {
        let told = self.told.lock().unwrap();
        let endings = told.iter().map(|(_, ending)| *ending);
        endings
            .filter(|ending| *ending != Ending::NotSent)
            .collect()
    }
}

impl Budget for Till {
    fn on_call(&self, _: Instant) {}

    fn on_outcome(&self, sending: Sending, ending: Ending, _: Instant) {
        self.told.lock().unwrap().push((sending, ending));
    }

    fn reserve(&self, _: Ask) -> Option<Permit> {
        self.open.then(Permit::free)
    }
}
