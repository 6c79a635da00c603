use std::sync::Arc;

use tower_layer::Layer;

use super::shared::Shared;
use super::{Bulkhead, BulkheadConfig, BulkheadHandle};

/// Puts a [`Bulkhead`] around a service; see the [module's page](super).
///
/// The places belong to the layer value: its clones, and all services that it is put around, share
/// them. Two layers of the same config share nothing.
#[derive(Clone, Debug)]
pub struct BulkheadLayer {
    shared: Arc<Shared>,
}

impl BulkheadLayer {
    /// A layer with places of its own.
    pub fn new(config: BulkheadConfig) -> Self {
        let shared = Arc::new(Shared::new(config));
        Self { shared }
    }

    /// A layer of another config over the places of this one, for a policy that is read anew while
    /// services go on.
    ///
    /// Calls in flight count on: a lower limit lets nobody in until enough have ended, and a higher
    /// one wakes those who wait, at once. Who waits keeps their place in the queue and the end of
    /// their wait, also where the queue is shorter now or there is none any longer. Where the bound
    /// of destinations is lower now, those called least recently are forgotten.
    ///
    /// From now on limit, queue and reserve of every destination are those of the new config,
    /// whoever calls. A service made by this layer goes on over the same places, and never lets in
    /// more than these; its own are its mode, how long its calls wait, and who is told of its
    /// refusals. [`Mode::Off`](crate::Mode::Off) has no limit: who waits then goes out. Handles of
    /// both layers see the same places.
    ///
    /// A config of another [scope](crate::Scope) starts anew: calls in flight do not count.
    #[must_use]
    pub fn reconfigured(&self, config: BulkheadConfig) -> Self {
        let shared = Arc::new(self.shared.reconfigured(config));
        Self { shared }
    }

    /// The config.
    pub fn config(&self) -> &BulkheadConfig {
        self.shared.config()
    }

    /// A view of its places.
    pub fn handle(&self) -> BulkheadHandle {
        BulkheadHandle::new(self.shared.clone())
    }
}

impl Default for BulkheadLayer {
    /// A layer of [`BulkheadConfig::default`].
    fn default() -> Self {
        Self::new(BulkheadConfig::default())
    }
}

impl<S> Layer<S> for BulkheadLayer {
    type Service = Bulkhead<S>;

    fn layer(&self, inner: S) -> Bulkhead<S> {
        let shared = self.shared.clone();
        Bulkhead { inner, shared }
    }
}
