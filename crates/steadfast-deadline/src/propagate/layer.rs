use std::sync::Arc;

use tower_layer::Layer;

use super::Propagate;
use crate::PropagateConfig;

/// Puts a [`Propagate`] around a service; see the crate's page.
#[derive(Clone, Debug, Default)]
pub struct PropagateLayer {
    config: Arc<PropagateConfig>,
}

impl PropagateLayer {
    /// Tells the next hop what this configuration says.
    pub fn new(config: PropagateConfig) -> Self {
        Self {
            config: Arc::new(config),
        }
    }

    /// What is told.
    pub fn config(&self) -> &PropagateConfig {
        &self.config
    }
}

impl<S> Layer<S> for PropagateLayer {
    type Service = Propagate<S>;

    fn layer(&self, inner: S) -> Propagate<S> {
        Propagate {
            inner,
            config: Arc::clone(&self.config),
        }
    }
}
