use std::sync::Arc;
use std::task::{Context, Poll};

use http::{Request, Response};
use http_body::Body;
use steadfast_core::BoxError;
use steadfast_retry::ReplayBody;
use tower_service::Service;

use super::shared::Shared;
use super::stack::{Stack, innermost};
use super::{ResponseBody, StandardFuture};

/// A service with the whole client stack around it; see the [module's page](super).
///
/// Its type is the same whatever the policy says: what is off does nothing.
#[derive(Clone, Debug)]
pub struct Standard<S> {
    stack: Stack<S>,
    generation: u64,
    shared: Arc<Shared>,
}

impl<S: Clone> Standard<S> {
    pub(super) fn new(inner: S, shared: Arc<Shared>) -> Self {
        let (layers, generation) = shared.layers();
        Self {
            stack: layers.stack(inner),
            generation,
            shared,
        }
    }

    /// Takes the policy that is now in force. The instance below starts unready.
    #[cold]
    fn follow(&mut self) {
        *self = Self::new(innermost(&self.stack).clone(), self.shared.clone());
    }
}

impl<S> Standard<S> {
    /// The inner service.
    pub fn get_ref(&self) -> &S {
        innermost(&self.stack)
    }
}

impl<S, B, R> Service<Request<B>> for Standard<S>
where
    S: Service<Request<ReplayBody<B>>, Response = Response<R>, Error: Into<BoxError>> + Clone,
    B: Body<Error: Into<BoxError>> + Unpin,
    R: Body<Error: Into<BoxError>>,
{
    type Response = Response<ResponseBody<R>>;
    type Error = BoxError;
    type Future = StandardFuture<S, S::Future, B, R>;

    /// Ready when the inner service is. A policy that was replaced is followed from here on.
    #[inline]
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        if self.shared.generation() != self.generation {
            self.follow();
        }
        self.stack.poll_ready(cx)
    }

    #[inline]
    fn call(&mut self, request: Request<B>) -> Self::Future {
        StandardFuture::new(self.stack.call(request))
    }
}
