use std::sync::Arc;
use std::task::{Context, Poll};

use http::{Extensions, Request};
use steadfast_core::{CallState, Deadline, Safety};
use tower_layer::Layer;
use tower_service::Service;

use super::{MethodConfig, ServiceConfig};
use crate::clock;

/// Gives each call what the service config says of its method. Outside the retry layer.
///
/// - A `retryPolicy` declares that the method may be repeated ([`Safety::Idempotent`], unless the
///   caller said otherwise for this call), and sets attempts, waits and codes
///   (`RetryOverrides`, unless the caller set some). Such a call is committed with the head of
///   its answer.
/// - A `timeout` shortens the call's deadline.
///
/// A method without a `retryPolicy` is not declared: it is repeated only where nothing of it was
/// processed, which gRPC calls transparent.
#[derive(Clone, Debug)]
pub struct ServiceConfigLayer {
    config: Arc<ServiceConfig>,
}

impl ServiceConfigLayer {
    /// A layer of this config.
    pub fn new(config: impl Into<Arc<ServiceConfig>>) -> Self {
        Self {
            config: config.into(),
        }
    }

    /// The config.
    pub fn config(&self) -> &ServiceConfig {
        &self.config
    }
}

impl<S> Layer<S> for ServiceConfigLayer {
    type Service = WithServiceConfig<S>;

    fn layer(&self, inner: S) -> WithServiceConfig<S> {
        WithServiceConfig {
            inner,
            config: self.config.clone(),
        }
    }
}

/// A service whose calls know their method's config; see [`ServiceConfigLayer`].
#[derive(Clone, Debug)]
pub struct WithServiceConfig<S> {
    inner: S,
    config: Arc<ServiceConfig>,
}

impl<S, B> Service<Request<B>> for WithServiceConfig<S>
where
    S: Service<Request<B>>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<B>) -> S::Future {
        let method = self.config.method(request.uri().path()).cloned();
        if let Some(method) = method {
            apply(&method, request.extensions_mut());
        }
        self.inner.call(request)
    }
}

fn apply(method: &MethodConfig, extensions: &mut Extensions) {
    let timeout = method.timeout();
    let policy = method.retry_policy();
    if timeout.is_none() && policy.is_none() {
        return;
    }
    CallState::edit(extensions, |state| {
        if let Some(timeout) = timeout {
            state.tighten_deadline(Deadline::after(clock::now(), timeout));
        }
        if policy.is_some() && state.safety().is_none() {
            state.set_safety(Safety::Idempotent);
        }
    });
    let Some(policy) = policy else {
        return;
    };
    let mut overrides = policy.overrides();
    if let Some(timeout) = timeout {
        // Also where it is longer than the retry layer's own limit.
        overrides = overrides.with_total_limit(timeout);
    }
    extensions.get_or_insert_with(|| overrides);
}
