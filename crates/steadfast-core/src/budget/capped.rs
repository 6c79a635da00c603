use std::sync::{Arc, PoisonError};
use std::time::Instant;

use super::{Ask, Budget, Ending, Permit, Sending, Settle, Used};
use crate::sync::Mutex;

/// A budget below another one that it shares: a retry needs the leave of both.
#[derive(Debug)]
pub(super) struct Capped {
    pub(super) own: Arc<dyn Budget>,
    pub(super) total: Arc<dyn Budget>,
}

impl Budget for Capped {
    fn on_call(&self, now: Instant) {
        self.own.on_call(now);
        self.total.on_call(now);
    }

    fn on_success_at_once(&self, clock: &dyn Fn() -> Instant) {
        self.own.on_success_at_once(clock);
        self.total.on_success_at_once(clock);
    }

    fn on_outcome(&self, sending: Sending, ending: Ending, now: Instant) {
        self.own.on_outcome(sending, ending, now);
        self.total.on_outcome(sending, ending, now);
    }

    fn reserve(&self, ask: Ask) -> Option<Permit> {
        // The first one's permit returns by its drop where the second says no.
        let own = self.own.reserve(ask)?;
        let total = self.total.reserve(ask)?;
        let both = Both(Mutex::new(Some((own, total))));
        Some(Permit::new(Arc::new(both), 0))
    }
}

/// Two permits that share one fate.
struct Both(Mutex<Option<(Permit, Permit)>>);

impl Settle for Both {
    fn settle(&self, _: u64, used: Used) {
        let both = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((mut own, mut total)) = both else {
            return;
        };
        if used != Used::Unsent {
            own.sent();
            total.sent();
        }
        if used == Used::Succeeded {
            own.succeeded();
            total.succeeded();
        }
    }
}
