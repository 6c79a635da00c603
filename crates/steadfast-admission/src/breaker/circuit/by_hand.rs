//! What an operator sets, and who watches.

use steadfast_core::CircuitState;
use tokio::sync::watch;

use super::{Circuit, History, Kind, locked};
use crate::breaker::counts::Counts;

impl Circuit {
    /// Closes it: as it was made, but for the times that it has opened where those are kept.
    pub(in crate::breaker) fn close(&self, forget: bool) {
        self.set(|history| {
            if forget {
                *history = History::default();
            }
            Kind::Closed(Counts::new(&self.config.rules))
        });
    }

    pub(in crate::breaker) fn hold_open(&self) {
        self.set(|_| Kind::HeldOpen);
    }

    pub(in crate::breaker) fn disable(&self) {
        self.set(|_| Kind::Disabled);
    }

    pub(in crate::breaker) fn watch(&self) -> watch::Receiver<CircuitState> {
        // Under the lock of changes, so that none is missed between the two.
        let _changes = locked(&self.history);
        let sender = self
            .watched
            .get_or_init(|| watch::Sender::new(self.state()));
        sender.subscribe()
    }

    /// A change by an operator's hand.
    fn set(&self, kind: impl FnOnce(&mut History) -> Kind) {
        if let Some(changed) = self.replace(None, kind) {
            self.tell(changed);
        }
    }
}
