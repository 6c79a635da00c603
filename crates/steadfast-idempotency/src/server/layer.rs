use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tower_layer::Layer;

use super::config::IdempotencyConfig;
use super::engine::{Engine, Undrained};
use super::service::Idempotency;
use super::store::TxStore;

/// Protects the routes it is put on: at most one effect per key, the same answer to every repeat.
///
/// The effect is what the handler writes in its transaction. For effects elsewhere there is
/// [`LeasedLayer`](super::leased::LeasedLayer).
///
/// It belongs inside authentication, which must have said who calls before a key means anything.
/// All services that one value and its clones made share one engine.
pub struct IdempotencyLayer<St>(Arc<Shared<Engine<St>>>);

#[derive(Debug)]
pub(crate) struct Shared<E> {
    pub(crate) engine: E,
    pub(crate) config: IdempotencyConfig,
}

impl<St: TxStore> IdempotencyLayer<St> {
    /// A layer with an engine of its own.
    pub fn new(store: St, config: IdempotencyConfig) -> Self {
        let engine = Engine::new(store, config.engine().clone());
        Self(Arc::new(Shared { engine, config }))
    }

    /// Waits for the work of all requests, also of those whose client has hung up; see
    /// [`Engine::drain`].
    ///
    /// # Errors
    ///
    /// How much work was still running at the limit.
    pub async fn drain(&self, limit: Duration) -> Result<(), Undrained> {
        self.0.engine.drain(limit).await
    }

    /// The engine below.
    pub fn engine(&self) -> &Engine<St> {
        &self.0.engine
    }

    /// The knobs.
    pub fn config(&self) -> &IdempotencyConfig {
        &self.0.config
    }
}

impl<S, St> Layer<S> for IdempotencyLayer<St> {
    type Service = Idempotency<S, St>;

    fn layer(&self, inner: S) -> Self::Service {
        Idempotency::new(inner, Arc::clone(&self.0))
    }
}

impl<St> Clone for IdempotencyLayer<St> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<St> fmt::Debug for IdempotencyLayer<St> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("IdempotencyLayer")
            .field(&self.0.config)
            .finish()
    }
}
