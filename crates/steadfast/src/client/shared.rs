use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Policy;
use super::stack::Layers;
use super::tools::Tools;

/// What the services of one layer value share.
#[derive(Debug)]
pub(super) struct Shared {
    tools: Tools,
    /// How often the policy was replaced: all that a call looks at.
    generation: AtomicU64,
    layers: Mutex<Arc<Layers>>,
}

impl Shared {
    pub(super) fn new(policy: Policy, tools: Tools) -> Self {
        let layers = Layers::new(policy, &tools);
        Self {
            tools,
            generation: AtomicU64::new(0),
            layers: Mutex::new(Arc::new(layers)),
        }
    }

    pub(super) fn reload(&self, policy: Policy) {
        let mut layers = self.locked();
        *layers = Arc::new(layers.reloaded(policy, &self.tools));
        // Under the lock, so that whoever sees the number finds these layers or later ones.
        self.generation.fetch_add(1, Ordering::Release);
    }

    #[inline]
    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// The layers, and which they are.
    pub(super) fn layers(&self) -> (Arc<Layers>, u64) {
        let layers = self.locked();
        (layers.clone(), self.generation())
    }

    fn locked(&self) -> MutexGuard<'_, Arc<Layers>> {
        // They are replaced as a whole.
        self.layers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
