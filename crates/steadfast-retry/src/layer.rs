use std::sync::Arc;

use tower_layer::Layer;

use crate::{Retry, RetryConfig};

/// Puts a retry loop around a service; see the [front page](crate).
///
/// All services that one layer value makes share its budget and its randomness.
#[derive(Clone, Debug, Default)]
pub struct RetryLayer {
    config: Arc<RetryConfig>,
}

impl RetryLayer {
    /// A layer of this config.
    pub fn new(config: RetryConfig) -> Self {
        Self {
            config: Arc::new(config),
        }
    }
}

impl<S: Clone> Layer<S> for RetryLayer {
    type Service = Retry<S>;

    fn layer(&self, inner: S) -> Retry<S> {
        Retry::new(inner, self.config.clone())
    }
}
