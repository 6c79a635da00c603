use std::sync::Arc;

use tower_layer::Layer;

use super::config::InboundConfig;
use super::service::InboundDeadline;

/// Puts an [`InboundDeadline`] around a service; see the crate's page.
#[derive(Clone, Debug, Default)]
pub struct InboundDeadlineLayer {
    config: Arc<InboundConfig>,
}

impl InboundDeadlineLayer {
    /// A layer that does what `config` says.
    pub fn new(config: InboundConfig) -> Self {
        let config = Arc::new(config);
        Self { config }
    }

    /// What the layer does.
    pub fn config(&self) -> &InboundConfig {
        &self.config
    }
}

impl<S> Layer<S> for InboundDeadlineLayer {
    type Service = InboundDeadline<S>;

    fn layer(&self, inner: S) -> InboundDeadline<S> {
        InboundDeadline::new(inner, Arc::clone(&self.config))
    }
}
