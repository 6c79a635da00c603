use std::fmt;
use std::sync::Arc;

use steadfast_core::CircuitState;
use tokio::sync::watch;

use super::circuits::Circuits;

/// Looks at a layer's circuits and sets them by hand: for an operator's switch, a health page, a
/// test.
///
/// Destinations are named as requests name them (`api.example:8443`), in any case. Where one
/// circuit is for all ([`Scope::Layer`](crate::Scope::Layer)) the name says nothing.
#[derive(Clone)]
pub struct BreakerHandle {
    circuits: Arc<Circuits>,
}

impl BreakerHandle {
    pub(super) const fn new(circuits: Arc<Circuits>) -> Self {
        Self { circuits }
    }

    /// The state of a destination's circuit. One whose open time is over stays open until a call
    /// comes and is the probe. Nobody has called a destination that has none: it is closed.
    pub fn state(&self, destination: &str) -> CircuitState {
        let known = self.circuits.peek(destination);
        known.map_or(CircuitState::Closed, |circuit| circuit.state())
    }

    /// The state, and every one after it; the circuit is made if there is none. A destination that is forgotten while nobody calls it
    /// ends what its receiver hears.
    pub fn watch(&self, destination: &str) -> watch::Receiver<CircuitState> {
        self.circuits.of_name(destination).watch()
    }

    /// Refuses every call to a destination, until it is set otherwise.
    pub fn hold_open(&self, destination: &str) {
        self.circuits
            .set(destination, true, |circuit| circuit.hold_open());
    }

    /// Lets every call to a destination pass and counts none, until it is set otherwise.
    pub fn disable(&self, destination: &str) {
        self.circuits
            .set(destination, true, |circuit| circuit.disable());
    }

    /// Closes a circuit and counts anew. If it opens again, it stays open as long as if it had
    /// not been closed by hand.
    pub fn close(&self, destination: &str) {
        self.circuits
            .set(destination, false, |circuit| circuit.close(false));
    }

    /// Makes a circuit as if nobody had ever called the destination.
    pub fn reset(&self, destination: &str) {
        self.circuits
            .set(destination, false, |circuit| circuit.close(true));
    }

    /// How many circuits there are.
    pub fn circuits(&self) -> usize {
        self.circuits.len()
    }
}

impl fmt::Debug for BreakerHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BreakerHandle")
            .field("circuits", &self.circuits())
            .finish_non_exhaustive()
    }
}
