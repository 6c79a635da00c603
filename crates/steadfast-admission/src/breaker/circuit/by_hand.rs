//! What an operator sets, to be told by [`Circuit::tell`], and who watches.

use steadfast_core::CircuitState;
use tokio::sync::watch;

use super::{Circuit, Kind, locked};

impl Circuit {
    /// Closes it: as it was made, but for the times that it has opened where those are kept.
    pub(in crate::breaker) fn close(&self, forget: bool) {
        self.set(|config, history| {
            if forget {
                history.forget();
            }
            Kind::closed(config)
        });
    }

    pub(in crate::breaker) fn hold_open(&self) {
        self.set(|_, _| Kind::HeldOpen);
    }

    pub(in crate::breaker) fn disable(&self) {
        self.set(|_, _| Kind::Disabled);
    }

    pub(in crate::breaker) fn watch(&self) -> watch::Receiver<CircuitState> {
        // Under the lock of changes, so that none is missed between the two.
        let _changes = locked(&self.history);
        let sender = self
            .watched
            .get_or_init(|| watch::Sender::new(self.state()));
        sender.subscribe()
    }
}
