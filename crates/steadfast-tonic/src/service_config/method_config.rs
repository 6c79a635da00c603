use std::time::Duration;

use super::json::At;
use super::{InvalidServiceConfig, RetryPolicy};

/// What is said about a method.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MethodConfig {
    timeout: Option<Duration>,
    wait_for_ready: Option<bool>,
    retry_policy: Option<RetryPolicy>,
}

impl MethodConfig {
    pub(super) fn read(at: &At<'_>) -> Result<Self, InvalidServiceConfig> {
        at.object()?;
        if let Some(hedging) = at.field("hedgingPolicy") {
            return Err(hedging.broken("hedging is not supported; use a retryPolicy"));
        }
        let timeout = at.field("timeout").map(|field| field.duration());
        let wait_for_ready = at.field("waitForReady").map(|field| field.bool());
        let retry_policy = at.field("retryPolicy");
        Ok(Self {
            timeout: timeout.transpose()?,
            wait_for_ready: wait_for_ready.transpose()?,
            retry_policy: retry_policy
                .map(|field| RetryPolicy::read(&field))
                .transpose()?,
        })
    }

    /// The longest time of a call, all attempts and waits included. The caller's own deadline
    /// holds if it is shorter.
    pub const fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// Whether a call waits for a connection instead of failing. Noted, and without effect:
    /// tonic's channel tries to connect for each call, and a call that found no connection is
    /// repeated by the retry layer.
    pub const fn wait_for_ready(&self) -> Option<bool> {
        self.wait_for_ready
    }

    /// How the method's calls are repeated. A method that has one may be repeated: its owner says
    /// so.
    pub const fn retry_policy(&self) -> Option<&RetryPolicy> {
        self.retry_policy.as_ref()
    }
}
