use std::sync::Arc;

use tower_layer::Layer;

use super::circuits::Circuits;
use super::{Breaker, BreakerConfig, BreakerHandle};

/// Puts a [`Breaker`] around a service; see the [crate's page](crate).
///
/// The circuits belong to the layer's value: its clones, and every service that it makes, share
/// them.
#[derive(Clone, Debug)]
pub struct BreakerLayer {
    circuits: Arc<Circuits>,
}

impl BreakerLayer {
    /// A layer with circuits of its own.
    pub fn new(config: impl Into<Arc<BreakerConfig>>) -> Self {
        Self {
            circuits: Arc::new(Circuits::new(config.into())),
        }
    }

    /// A layer of another config over the circuits of this one, for a policy that is read anew
    /// while services go on.
    ///
    /// Open circuits stay open until their time has come; what an operator holds open or has
    /// disabled stays so; a half-open circuit is open, and the next call probes it. A closed one
    /// keeps its counts where the window holds the same time, or as many calls and their slowness
    /// as before, and results of calls in flight still count; else it counts anew. The times that
    /// a circuit has opened in a row are kept, and who [watches](BreakerHandle::watch) it goes on
    /// watching. Where the bound of destinations is lower now, those called least recently are
    /// forgotten.
    ///
    /// From now on every circuit follows the new config, whoever calls: when it opens and for how
    /// long, how it is probed, and who is told of its changes. A service made by this layer goes
    /// on over the same circuits, and of two such services one finds no more probes than both.
    /// Its own are its mode, what its calls' answers and errors mean, and who is told of its
    /// refusals. Handles of both layers see and set the same circuits.
    ///
    /// A config of another [scope](crate::Scope) starts anew, with circuits of its own.
    #[must_use]
    pub fn reconfigured(&self, config: impl Into<Arc<BreakerConfig>>) -> Self {
        Self {
            circuits: Arc::new(self.circuits.reconfigured(config.into())),
        }
    }

    /// The config.
    pub fn config(&self) -> &BreakerConfig {
        &self.circuits.config
    }

    /// To look at the circuits, and to set them by hand.
    pub fn handle(&self) -> BreakerHandle {
        BreakerHandle::new(self.circuits.clone())
    }
}

impl Default for BreakerLayer {
    fn default() -> Self {
        Self::new(BreakerConfig::default())
    }
}

impl<S> Layer<S> for BreakerLayer {
    type Service = Breaker<S>;

    fn layer(&self, inner: S) -> Breaker<S> {
        Breaker::new(inner, self.circuits.clone())
    }
}
