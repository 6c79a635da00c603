use std::sync::Arc;
use std::time::Duration;

use super::shared::Shared;

/// The pauses of a [`CooldownLayer`](super::CooldownLayer), to look at and to change by hand.
///
/// A destination is named as requests name it, `api.example:8443`, in any case of letters; calls
/// that have none are `""`. With [`Scope::Layer`](crate::Scope::Layer) the name does not matter.
/// Asking makes nothing and keeps nothing.
#[derive(Clone, Debug)]
pub struct CooldownHandle {
    shared: Arc<Shared>,
}

impl CooldownHandle {
    pub(super) const fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// How long calls to this destination are refused still; in shadow mode, would be refused.
    /// `None` where they pass.
    pub fn remaining(&self, destination: &str) -> Option<Duration> {
        self.shared.pauses().remaining(destination)
    }

    /// Leaves this destination alone from now on for `wait`, as if it had asked for that: before
    /// its maintenance, or because it said so in a way that no header does. A longer pause that
    /// is on already stays; zero changes nothing.
    ///
    /// It is not cut to [`max`](super::CooldownConfig::max), and it is not forgotten however many
    /// other destinations are called; `Duration::MAX` holds until [`clear`](Self::clear). The
    /// observer is not told.
    pub fn cool(&self, destination: &str, wait: Duration) {
        self.shared.pauses().cool(destination, wait);
    }

    /// Ends the pause of this destination, whoever asked for it. The next answer may begin another
    /// one.
    pub fn clear(&self, destination: &str) {
        self.shared.pauses().clear(destination);
    }
}
