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
