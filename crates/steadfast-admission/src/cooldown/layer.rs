use std::sync::Arc;

use tower_layer::Layer;

use super::shared::Shared;
use super::{Cooldown, CooldownConfig, CooldownHandle};

/// Puts a [`Cooldown`] around a service; see the [module's page](super).
///
/// The pauses belong to the layer value: its clones, and all services that it is put around, share
/// them. Two layers of the same config share nothing.
#[derive(Clone, Debug)]
pub struct CooldownLayer {
    shared: Arc<Shared>,
}

impl CooldownLayer {
    /// A layer with pauses of its own.
    pub fn new(config: CooldownConfig) -> Self {
        let shared = Arc::new(Shared::new(config));
        Self { shared }
    }

    /// The config.
    pub fn config(&self) -> &CooldownConfig {
        self.shared.config()
    }

    /// A handle on its pauses.
    pub fn handle(&self) -> CooldownHandle {
        CooldownHandle::new(self.shared.clone())
    }
}

impl Default for CooldownLayer {
    /// A layer of [`CooldownConfig::default`].
    fn default() -> Self {
        Self::new(CooldownConfig::default())
    }
}

impl<S> Layer<S> for CooldownLayer {
    type Service = Cooldown<S>;

    fn layer(&self, inner: S) -> Cooldown<S> {
        let shared = self.shared.clone();
        Cooldown { inner, shared }
    }
}
