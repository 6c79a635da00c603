use std::num::NonZeroU32;
use std::sync::Arc;

use super::shared::Shared;

/// How full a [`BulkheadLayer`](super::BulkheadLayer) is.
///
/// A destination is named as requests name it, `api.example:8443`; with
/// [`Scope::Layer`](crate::Scope::Layer) the name does not matter. What is said may be past when
/// it is read. To ask counts as a use: the destination is remembered.
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
        self.shared.gate_of(destination).counts().0
    }

    /// How many calls to this destination wait for a place.
    pub fn waiting(&self, destination: &str) -> usize {
        self.shared.gate_of(destination).counts().1
    }

    /// How many places each destination has.
    pub fn limit(&self) -> NonZeroU32 {
        self.shared.config().limit()
    }
}
