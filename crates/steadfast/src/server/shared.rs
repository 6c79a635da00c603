//! The layers in their order, and how they are replaced.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use steadfast_admission::arrivals::{Arrivals, ArrivalsConfig, ArrivalsLayer};
use steadfast_core::Observe;
use steadfast_deadline::server::{InboundDeadline, InboundDeadlineLayer};
use tower_layer::Layer;

use super::Policy;

/// The layers, outer to inner.
pub(super) type Stack<S> = InboundDeadline<Arrivals<S>>;

/// A policy made into layers.
#[derive(Clone, Debug)]
pub(super) struct Layers {
    pub(super) policy: Policy,
    arrivals: ArrivalsLayer,
    deadline: InboundDeadlineLayer,
}

impl Layers {
    fn new(
        policy: Policy,
        observer: Option<&Arc<dyn Observe>>,
        arrivals: impl FnOnce(ArrivalsConfig) -> ArrivalsLayer,
    ) -> Self {
        let draft = policy.as_draft();
        let (mut counted, mut deadline) = (draft.arrivals.clone(), draft.deadline.clone());
        if let Some(observer) = observer {
            counted = counted.with_observer(observer.clone());
            deadline = deadline.with_observer(observer.clone());
        }
        Self {
            policy,
            arrivals: arrivals(counted),
            deadline: InboundDeadlineLayer::new(deadline),
        }
    }

    pub(super) fn stack<S>(&self, inner: S) -> Stack<S> {
        self.deadline.layer(self.arrivals.layer(inner))
    }
}

/// What the services of one layer value share.
pub(super) struct Shared {
    observer: Option<Arc<dyn Observe>>,
    /// How often the policy was replaced: all that a call looks at.
    generation: AtomicU64,
    layers: Mutex<Layers>,
}

impl Shared {
    pub(super) fn new(policy: Policy, observer: Option<Arc<dyn Observe>>) -> Self {
        let layers = Layers::new(policy, observer.as_ref(), ArrivalsLayer::new);
        Self {
            observer,
            generation: AtomicU64::new(0),
            layers: Mutex::new(layers),
        }
    }

    pub(super) fn reload(&self, policy: Policy) {
        let mut layers = self.locked();
        let over = layers.arrivals.clone();
        let observer = self.observer.as_ref();
        *layers = Layers::new(policy, observer, |config| over.reconfigured(config));
        // Under the lock, so that whoever sees the number finds these layers or later ones.
        self.generation.fetch_add(1, Ordering::Release);
    }

    #[inline]
    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// The layers, and which they are.
    pub(super) fn layers(&self) -> (Layers, u64) {
        let layers = self.locked();
        (layers.clone(), self.generation())
    }

    fn locked(&self) -> MutexGuard<'_, Layers> {
        // They are replaced as a whole.
        self.layers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
