use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tower_layer::Layer;

use super::engine::LeasedEngine;
use super::policy::LeasePolicy;
use super::store::LeaseStore;
use crate::server::config::IdempotencyConfig;
use crate::server::engine::Undrained;
use crate::server::layer::Shared;
use crate::server::service::Protected;

/// Protects routes whose effects are outside the database, under leases.
///
/// It stands where [`IdempotencyLayer`](crate::server::IdempotencyLayer) would: inside
/// authentication. All services that one value and its clones made share one engine.
pub struct LeasedLayer<St, P>(Arc<Shared<LeasedEngine<St, P>>>);

/// A service whose effects happen under leases of the store `St`, by the policy `P`.
pub type Leased<S, St, P> = Protected<S, LeasedEngine<St, P>>;

impl<St: LeaseStore, P: LeasePolicy> LeasedLayer<St, P> {
    /// A layer with an engine of its own.
    pub fn new(store: St, policy: P, config: IdempotencyConfig) -> Self {
        let engine = LeasedEngine::new(store, policy, config.engine().clone());
        Self(Arc::new(Shared { engine, config }))
    }

    /// Waits for the work of all requests; see [`LeasedEngine::drain`].
    ///
    /// # Errors
    ///
    /// How much work was still running at the limit.
    pub async fn drain(&self, limit: Duration) -> Result<(), Undrained> {
        self.0.engine.drain(limit).await
    }

    /// The engine below.
    pub fn engine(&self) -> &LeasedEngine<St, P> {
        &self.0.engine
    }

    /// The knobs.
    pub fn config(&self) -> &IdempotencyConfig {
        &self.0.config
    }
}

impl<S, St, P> Layer<S> for LeasedLayer<St, P> {
    type Service = Leased<S, St, P>;

    fn layer(&self, inner: S) -> Self::Service {
        Protected::new(inner, Arc::clone(&self.0))
    }
}

impl<St, P> Clone for LeasedLayer<St, P> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<St, P> fmt::Debug for LeasedLayer<St, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LeasedLayer").field(&self.0.config).finish()
    }
}
