use std::fmt;
use std::sync::Arc;

use super::Policy;
use super::shared::Shared;

/// Gives the services of a layer another policy.
#[derive(Clone)]
pub struct StandardHandle {
    shared: Arc<Shared>,
}

impl StandardHandle {
    pub(super) const fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// The policy in force.
    pub fn policy(&self) -> Policy {
        self.shared.layers().0.policy
    }

    /// Gives every service of the layer another policy, from its next request on; requests under
    /// way end by the old one. The count of arrivals stays where its window is said the same.
    pub fn reload(&self, policy: Policy) {
        self.shared.reload(policy);
    }
}

impl fmt::Debug for StandardHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StandardHandle")
            .field("policy", &self.policy())
            .finish_non_exhaustive()
    }
}
