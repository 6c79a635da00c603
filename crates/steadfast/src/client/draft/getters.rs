use std::time::Duration;

use steadfast_admission::breaker::BreakerConfig;
use steadfast_admission::bulkhead::BulkheadConfig;
use steadfast_admission::cooldown::CooldownConfig;
use steadfast_deadline::{BodyTimeoutLayer, PropagateConfig};
use steadfast_idempotency::client::KeyConfig;
use steadfast_retry::RetryConfig;

use super::{Budgets, Draft, Profile};

impl Draft {
    /// Where it started.
    pub const fn profile(&self) -> Profile {
        self.profile
    }

    /// The time of a whole call.
    pub const fn call_limit(&self) -> Duration {
        self.call_limit
    }

    /// The time of one attempt.
    pub const fn attempt_timeout(&self) -> Duration {
        self.attempt_timeout
    }

    /// Where keys are honoured, and how.
    pub const fn keys(&self) -> &KeyConfig {
        &self.keys
    }

    /// How calls are repeated.
    pub const fn retry(&self) -> &RetryConfig {
        &self.retry
    }

    /// What caps repeats in aggregate.
    pub const fn budgets(&self) -> &Budgets {
        &self.budgets
    }

    /// How hosts are left alone that want to be.
    pub const fn cooldown(&self) -> &CooldownConfig {
        &self.cooldown
    }

    /// How many calls may be in flight to one destination.
    pub const fn bulkhead(&self) -> &BulkheadConfig {
        &self.bulkhead
    }

    /// When a destination that fails is left alone.
    pub const fn breaker(&self) -> &BreakerConfig {
        &self.breaker
    }

    /// When a body that has fallen silent ends.
    pub const fn body_timeout(&self) -> &BodyTimeoutLayer {
        &self.body
    }

    /// What the next hop is told.
    pub const fn propagation(&self) -> &PropagateConfig {
        &self.propagation
    }
}
