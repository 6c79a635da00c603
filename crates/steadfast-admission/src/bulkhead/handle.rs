use std::num::NonZeroU32;
use std::sync::Arc;

use super::shared::Shared;

/// How full a [`BulkheadLayer`](super::BulkheadLayer) is.
///
/// A destination is named as requests name it, `api.example:8443`; with
/// [`Scope::Layer`](crate::Scope::Layer) the name does not matter. What is said may be past when
/// it is read. Asking makes nothing and keeps nothing: a destination that nobody calls is empty.
#[derive(Clone, Debug)]
pub struct BulkheadHandle {
    shared: Arc<Shared>,
}

impl BulkheadHandle {
    pub(super) const fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// How many calls to this destination hold a place, one that has come to a waiting call
    /// included. In shadow mode those that would have been
    /// refused hold none, and those that would have waited do.
    pub fn in_flight(&self, destination: &str) -> usize {
        self.counts(destination).0
    }

    /// How many calls to this destination wait for a place.
    pub fn waiting(&self, destination: &str) -> usize {
        self.counts(destination).1
    }

    /// How many places each destination has, as of the config given last.
    pub fn limit(&self) -> NonZeroU32 {
        self.shared.gates.limit()
    }

    fn counts(&self, destination: &str) -> (usize, usize) {
        let gate = self.shared.gates.peek(destination);
        gate.map_or((0, 0), |gate| gate.counts())
    }
}
