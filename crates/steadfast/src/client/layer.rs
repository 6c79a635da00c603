use std::sync::{Arc, OnceLock};

use steadfast_core::{Classify, Observe, Random};
use tower_layer::Layer;

use super::shared::Shared;
use super::tools::Tools;
use super::{Policy, Standard, StandardHandle};

/// Puts the whole client stack around a service; see the [module's page](super).
///
/// Budgets, pauses, places and circuits belong to the layer's value: its clones, and every service
/// that it makes, share them.
#[derive(Clone, Debug)]
pub struct StandardLayer {
    policy: Policy,
    tools: Tools,
    /// Made by the first service or handle, so that what is set before has its effect.
    shared: Arc<OnceLock<Arc<Shared>>>,
}

impl StandardLayer {
    /// The stack of this policy, with a state of its own.
    pub fn new(policy: Policy) -> Self {
        Self {
            policy,
            tools: Tools::default(),
            shared: Arc::default(),
        }
    }

    /// Sets what answers and errors mean, for retry and breaker alike. Default: what hyper's errors
    /// say ([`HyperClassify`](crate::hyper::HyperClassify)) with the `hyper` feature, else
    /// [`DefaultClassify`](steadfast_core::DefaultClassify). Over a reqwest client say
    /// `ReqwestClassify` of steadfast-reqwest: no feature changes the default to it. Starts with a
    /// state of its own.
    #[must_use]
    pub fn with_classify(mut self, classify: impl Classify) -> Self {
        self.tools.classify = Arc::new(classify);
        self.anew()
    }

    /// Sets who is told the events of all layers. Default: nobody. Starts with a state of its own.
    #[must_use]
    pub fn with_observer(mut self, observer: impl Observe) -> Self {
        self.tools.observer = Some(Arc::new(observer));
        self.anew()
    }

    /// Sets the randomness of waits and open times. Default: seeded by the operating system.
    /// Starts with a state of its own.
    #[must_use]
    pub fn with_random(mut self, random: Random) -> Self {
        self.tools.random = random;
        self.anew()
    }

    /// To look at the state, to set it by hand, and to give the services another policy.
    pub fn handle(&self) -> StandardHandle {
        StandardHandle::new(self.shared().clone())
    }

    fn anew(mut self) -> Self {
        self.shared = Arc::default();
        self
    }

    fn shared(&self) -> &Arc<Shared> {
        let make = || Arc::new(Shared::new(self.policy.clone(), self.tools.clone()));
        self.shared.get_or_init(make)
    }
}

impl Default for StandardLayer {
    /// What [`Policy::default`] says.
    fn default() -> Self {
        Self::new(Policy::default())
    }
}

impl<S: Clone> Layer<S> for StandardLayer {
    type Service = Standard<S>;

    fn layer(&self, inner: S) -> Standard<S> {
        Standard::new(inner, self.shared().clone())
    }
}
