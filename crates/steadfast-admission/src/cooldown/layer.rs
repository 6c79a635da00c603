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

    /// A layer of another config over the pauses of this one, for a policy that is read anew while
    /// services go on.
    ///
    /// A pause that is on stays as it is, also one that is longer than a new
    /// [`max`](CooldownConfig::max): that limits what an answer can begin, and
    /// [`clear`](CooldownHandle::clear) ends what should not have begun. Where the bound of
    /// destinations is lower now, those called least recently are forgotten, but for pauses set by
    /// hand.
    ///
    /// A service made by this layer goes on over the same pauses: it begins and keeps them by its
    /// own config, and others keep to what it hears. Handles of both layers see and set the same.
    ///
    /// A config of another [scope](crate::Scope) starts anew: no pause is on.
    #[must_use]
    pub fn reconfigured(&self, config: CooldownConfig) -> Self {
        let shared = Arc::new(self.shared.reconfigured(config));
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
