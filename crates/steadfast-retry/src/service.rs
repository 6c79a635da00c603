use std::sync::{Arc, Mutex};
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
    /// Never readied, only cloned from when another attempt is decided: a call without one costs
    /// no clone of the inner service.
    spare: Arc<Mutex<S>>,
    config: Arc<RetryConfig>,
}

impl<S: Clone> Retry<S> {
    /// Wraps a service. Clones share the config's budget and randomness.
    pub fn new(inner: S, config: impl Into<Arc<RetryConfig>>) -> Self {
        let spare = Arc::new(Mutex::new(inner.clone()));
        Self {
            inner,
            spare,
            config: config.into(),
        }
    }

    /// The config.
    pub fn config(&self) -> &RetryConfig {
        &self.config
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
        ResponseFuture::begin(&mut self.inner, &self.spare, &self.config, request)
    }
}
