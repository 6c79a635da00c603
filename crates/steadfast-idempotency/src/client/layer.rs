use std::sync::Arc;

use tower_layer::Layer;

use crate::client::{KeyConfig, WithKey};

/// Gives each call on a declared route one key: stands outside retry.
///
/// ```
/// use steadfast_idempotency::client::{KeyConfig, KeyLayer, Routes};
///
/// let routes = Routes::new().post("payments.example", "/charges")?;
/// let layer = KeyLayer::new(KeyConfig::new(routes));
/// # let _ = layer;
/// # Ok::<(), steadfast_core::InvalidEndpoint>(())
/// ```
#[derive(Clone, Debug)]
pub struct KeyLayer {
    config: Arc<KeyConfig>,
}

impl KeyLayer {
    /// A layer that follows this configuration.
    pub fn new(config: KeyConfig) -> Self {
        Self {
            config: Arc::new(config),
        }
    }
}

impl<S> Layer<S> for KeyLayer {
    type Service = WithKey<S>;

    fn layer(&self, inner: S) -> WithKey<S> {
        WithKey::shared(inner, Arc::clone(&self.config))
    }
}
