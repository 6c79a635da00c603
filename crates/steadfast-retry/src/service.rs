use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use http::{Request, Response};
use http_body::Body;
use steadfast_core::BoxError;
use tower_service::Service;

use crate::{ReplayBody, ResponseBody, ResponseFuture, RetryConfig};

/// A service that repeats calls; see the [front page](crate).
#[derive(Clone, Debug)]
pub struct Retry<S> {
    inner: S,
    shared: Shared<S>,
}

/// What the calls of a service share: one count of references for each call, not two.
#[derive(Debug)]
pub(crate) struct Shared<S>(Arc<Parts<S>>);

#[derive(Debug)]
struct Parts<S> {
    /// Never readied, only cloned from when another attempt is decided: a call without one costs
    /// no clone of the inner service.
    spare: Mutex<S>,
    config: Arc<RetryConfig>,
}

impl<S: Clone> Shared<S> {
    /// A fresh instance of the inner service.
    pub(crate) fn service(&self) -> S {
        let spare = self.0.spare.lock();
        spare.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl<S> Clone for Shared<S> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<S> AsRef<RetryConfig> for Shared<S> {
    #[inline]
    fn as_ref(&self) -> &RetryConfig {
        &self.0.config
    }
}

impl<S: Clone> Retry<S> {
    /// Wraps a service. Clones share the config's budget and randomness.
    pub fn new(inner: S, config: impl Into<Arc<RetryConfig>>) -> Self {
        let shared = Shared(Arc::new(Parts {
            spare: Mutex::new(inner.clone()),
            config: config.into(),
        }));
        Self { inner, shared }
    }

    /// The config.
    pub fn config(&self) -> &RetryConfig {
        self.shared.as_ref()
    }
}

impl<S> Retry<S> {
    /// The inner service.
    pub const fn get_ref(&self) -> &S {
        &self.inner
    }
}

impl<S, B, R> Service<Request<B>> for Retry<S>
where
    S: Service<Request<ReplayBody<B>>, Response = Response<R>, Error: Into<BoxError>> + Clone,
    B: Body<Error: Into<BoxError>> + Unpin,
    R: Body<Error: Into<BoxError>>,
{
    type Response = Response<ResponseBody<R>>;
    type Error = BoxError;
    type Future = ResponseFuture<S, S::Future, B, R>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        ResponseFuture::begin(&mut self.inner, &self.shared, request)
    }
}
