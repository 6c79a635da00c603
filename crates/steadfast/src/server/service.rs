use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{Request, Response};
use tower_service::Service;

use super::shared::{Shared, Stack};
use super::{ResponseBody, StandardFuture};

/// A service with the whole server stack around it; see the [module's page](super).
///
/// Its type is the same whatever the policy says: what is off does nothing.
#[derive(Clone)]
pub struct Standard<S> {
    stack: Stack<S>,
    generation: u64,
    shared: Arc<Shared>,
}

impl<S> Standard<S> {
    pub(super) fn new(inner: S, shared: Arc<Shared>) -> Self {
        let (layers, generation) = shared.layers();
        Self {
            stack: layers.stack(inner),
            generation,
            shared,
        }
    }

    /// The inner service.
    pub fn get_ref(&self) -> &S {
        self.stack.get_ref().get_ref()
    }
}

impl<S: Clone> Standard<S> {
    /// Takes the policy that is now in force. The instance below starts unready.
    #[cold]
    fn follow(&mut self) {
        *self = Self::new(self.get_ref().clone(), self.shared.clone());
    }
}

impl<S, B, R> Service<Request<B>> for Standard<S>
where
    S: Service<Request<B>, Response = Response<R>> + Clone,
{
    type Response = Response<ResponseBody<R>>;
    type Error = S::Error;
    type Future = StandardFuture<S::Future>;

    /// Ready when the inner service is. A policy that was replaced is followed from here on.
    #[inline]
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
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

impl<S: fmt::Debug> fmt::Debug for Standard<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Standard")
            .field("inner", self.get_ref())
            .finish_non_exhaustive()
    }
}
