//! gRPC's service config: a policy for each method, from JSON (grpc/doc/service_config.md, gRFC A6).

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;
use steadfast_core::budget::{KeyedBudget, ThrottleBudget};
use steadfast_retry::RetryConfig;

mod error;
mod json;
mod layer;
mod method_config;
mod name;
mod retry_policy;
mod throttling;

pub use error::InvalidServiceConfig;
pub use layer::{ServiceConfigLayer, WithServiceConfig};
pub use method_config::MethodConfig;
pub use retry_policy::{MAX_ATTEMPTS, RetryPolicy};
pub use throttling::RetryThrottling;

use json::At;
use name::Name;

use crate::TonicClassify;

/// What a service's owner says about calling it.
///
/// Read are `methodConfig` with `name`, `retryPolicy`, `timeout` and `waitForReady`, and
/// `retryThrottling`. A `hedgingPolicy` is refused, since nothing here hedges. Every other field is
/// passed over, known to gRPC or not: gRPC's own parsers do so, and an owner may publish what only
/// newer clients know.
///
/// The most exact name wins: the method, else its service, else the empty name.
///
/// ```
/// use steadfast_tonic::ServiceConfig;
///
/// let config = ServiceConfig::from_json(
///     r#"{
///         "methodConfig": [{
///             "name": [{ "service": "greeter.v1.Greeter" }],
///             "timeout": "2.5s",
///             "retryPolicy": {
///                 "maxAttempts": 4,
///                 "initialBackoff": "0.1s",
///                 "maxBackoff": "1s",
///                 "backoffMultiplier": 2,
///                 "retryableStatusCodes": ["UNAVAILABLE"]
///             }
///         }],
///         "retryThrottling": { "maxTokens": 10, "tokenRatio": 0.1 }
///     }"#,
/// )?;
/// let method = config.method("/greeter.v1.Greeter/SayHello").ok_or("no config")?;
/// assert_eq!(method.retry_policy().map(|policy| policy.max_attempts().get()), Some(4));
/// assert!(config.method("/other.v1.Other/Call").is_none());
///
/// let error = ServiceConfig::from_json(
///     r#"{ "methodConfig": [{ "name": [{}], "hedgingPolicy": { "maxAttempts": 2 } }] }"#,
/// )
/// .unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "methodConfig[0].hedgingPolicy: hedging is not supported; use a retryPolicy"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServiceConfig {
    methods: HashMap<Name, Arc<MethodConfig>>,
    throttling: Option<RetryThrottling>,
}

impl ServiceConfig {
    /// Reads a service config.
    ///
    /// # Errors
    ///
    /// What is no JSON, and the first field that breaks a rule, by its path.
    pub fn from_json(text: &str) -> Result<Self, InvalidServiceConfig> {
        let value: Value = serde_json::from_str(text).map_err(InvalidServiceConfig::json)?;
        let root = At::root(&value);
        root.object()?;
        let mut methods = HashMap::new();
        if let Some(list) = root.field("methodConfig") {
            for entry in list.array()? {
                let config = Arc::new(MethodConfig::read(&entry)?);
                let Some(names) = entry.field("name") else {
                    continue;
                };
                for at in names.array()? {
                    let name = Name::read(&at)?;
                    if methods.insert(name, config.clone()).is_some() {
                        return Err(at.broken("this name was given before"));
                    }
                }
            }
        }
        let throttling = root.field("retryThrottling");
        Ok(Self {
            methods,
            throttling: throttling
                .map(|at| RetryThrottling::read(&at))
                .transpose()?,
        })
    }

    /// What is said about a method, by its path, `/package.Service/Method`.
    pub fn method(&self, path: &str) -> Option<&MethodConfig> {
        let path = path.strip_prefix('/').unwrap_or(path);
        let (service, method) = path.split_once('/').unwrap_or((path, ""));
        let found = self.methods.get(&(service, method) as &dyn name::Named);
        let found = found.or_else(|| self.methods.get(&(service, "") as &dyn name::Named));
        let found = found.or_else(|| self.methods.get(&("", "") as &dyn name::Named));
        found.map(|config| &**config)
    }

    /// What caps the retries to each server name, if it says.
    pub const fn retry_throttling(&self) -> Option<RetryThrottling> {
        self.throttling
    }

    /// The budgets of `retryThrottling`: one for each destination, which a
    /// [`DestinationLayer`](crate::DestinationLayer) names. For
    /// [`RetryConfig::with_budget_for`], or the budgets of a whole stack.
    pub fn budgets(&self) -> Option<KeyedBudget> {
        let throttling = self.throttling?;
        let budget = move || -> ThrottleBudget { throttling.budget() };
        Some(KeyedBudget::by_destination(budget))
    }

    /// A retry config that does what this says of all methods alike: throttling in the place of its
    /// budget, [RetryInfo](crate::RetryInfo) among its hints, tonic's errors
    /// ([`TonicClassify`]). What differs by method is the [`ServiceConfigLayer`]'s, which stands
    /// outside the retry layer.
    pub fn retry_config(&self, base: RetryConfig) -> RetryConfig {
        let hints = base.hints().clone();
        let hints = hints.with_decoded(crate::STATUS_DETAILS, crate::RetryInfo::of_header);
        let config = base
            .with_hints(hints)
            .with_classify(TonicClassify::default());
        match self.budgets() {
            Some(budgets) => config.with_budget_for(budgets),
            None => config,
        }
    }
}

#[cfg(test)]
mod tests;
