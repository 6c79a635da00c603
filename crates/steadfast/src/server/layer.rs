use std::fmt;
use std::sync::{Arc, OnceLock};

use steadfast_core::Observe;
use tower_layer::Layer;

use super::shared::Shared;
use super::{Policy, Standard, StandardHandle};

/// Puts the whole server stack around a service; see the [module's page](super).
///
/// The count of arrivals belongs to the layer's value: its clones, and every service that it
/// makes, share it.
#[derive(Clone)]
pub struct StandardLayer {
    policy: Policy,
    observer: Option<Arc<dyn Observe>>,
    /// Made by the first service or handle, so that what is set before has its effect.
    shared: Arc<OnceLock<Arc<Shared>>>,
}

impl StandardLayer {
    /// The stack of this policy, with a count of its own.
    pub fn new(policy: Policy) -> Self {
        Self {
            policy,
            observer: None,
            shared: Arc::default(),
        }
    }

    /// Sets who is told the events of all layers. Default: nobody. Starts with a count of its own.
    #[must_use]
    pub fn with_observer(mut self, observer: impl Observe) -> Self {
        self.observer = Some(Arc::new(observer));
        self.shared = Arc::default();
        self
    }

    /// To give the services another policy.
    pub fn handle(&self) -> StandardHandle {
        StandardHandle::new(self.shared().clone())
    }

    fn shared(&self) -> &Arc<Shared> {
        let make = || Arc::new(Shared::new(self.policy.clone(), self.observer.clone()));
        self.shared.get_or_init(make)
    }
}

impl Default for StandardLayer {
    /// What [`Policy::default`] says.
    fn default() -> Self {
        Self::new(Policy::default())
    }
}

impl<S> Layer<S> for StandardLayer {
    type Service = Standard<S>;

    fn layer(&self, inner: S) -> Standard<S> {
        Standard::new(inner, self.shared().clone())
    }
}

impl fmt::Debug for StandardLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StandardLayer")
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}
