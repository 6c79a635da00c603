use std::sync::Arc;

use steadfast_admission::breaker::BreakerHandle;
use steadfast_admission::bulkhead::BulkheadHandle;
use steadfast_admission::cooldown::CooldownHandle;

use super::Policy;
use super::shared::Shared;

/// Looks at the state of a stack, sets it by hand, and gives it another policy.
#[derive(Clone, Debug)]
pub struct StandardHandle {
    shared: Arc<Shared>,
}

impl StandardHandle {
    pub(super) const fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// The policy in force.
    pub fn policy(&self) -> Policy {
        self.shared.layers().0.policy().clone()
    }

    /// Gives every service of the layer another policy, from its next call on; calls under way end
    /// by the old one. What is known of destinations stays: open circuits and what an operator
    /// set, calls in flight, pauses, and the counts of budgets and windows that are still said the
    /// same.
    pub fn reload(&self, policy: Policy) {
        self.shared.reload(policy);
    }

    /// The circuits, to look at and to set by hand.
    pub fn breaker(&self) -> BreakerHandle {
        self.shared.layers().0.states.breaker.handle()
    }

    /// The calls in flight.
    pub fn bulkhead(&self) -> BulkheadHandle {
        self.shared.layers().0.states.bulkhead.handle()
    }

    /// The pauses of hosts, to look at and to set by hand.
    pub fn cooldown(&self) -> CooldownHandle {
        self.shared.layers().0.states.cooldown.handle()
    }
}
