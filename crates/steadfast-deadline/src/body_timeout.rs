use std::task::{Context, Poll};

use http::{Method, Request, Response};
use steadfast_core::LayerKind;
use steadfast_core::order::enter;
use tower_service::Service;

use crate::due::{due, is_grpc};

mod body;
mod error;
mod future;
mod layer;
mod limits;

pub use body::TimedBody;
pub use error::BodyTimeoutError;
pub use future::BodyTimeoutFuture;
pub use layer::BodyTimeoutLayer;
use limits::{Asked, Limits};

/// Ends response bodies that fall silent.
///
/// A download may take as long as it needs while its bytes flow, longer than the call's limit
/// too. The stream of a gRPC call ends by the call's deadline. What follows an upgrade (101, or
/// a 2xx to CONNECT) is left alone: it is no body.
#[derive(Clone, Copy, Debug)]
pub struct BodyTimeout<S> {
    inner: S,
    limits: Limits,
}

impl<S> BodyTimeout<S> {
    /// The inner service.
    pub const fn get_ref(&self) -> &S {
        &self.inner
    }
}

impl<S, B, R> Service<Request<B>> for BodyTimeout<S>
where
    S: Service<Request<B>, Response = Response<R>>,
{
    type Response = Response<TimedBody<R>>;
    type Error = S::Error;
    type Future = BodyTimeoutFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    #[inline(never)]
    fn call(&mut self, request: Request<B>) -> Self::Future {
        let _entered = enter(LayerKind::BodyTimeout);
        let asked = Asked {
            tunnel: *request.method() == Method::CONNECT,
            grpc: is_grpc(request.headers()),
            due: due(request.extensions()),
        };
        self.send(request, asked)
    }
}

impl<S> BodyTimeout<S> {
    /// In a function of its own that owns nothing besides, so that the inner future, which may be
    /// large, is made where it stays: what has to be dropped on a panic makes the compiler move it.
    #[inline(never)]
    fn send<B>(&mut self, request: Request<B>, asked: Asked) -> BodyTimeoutFuture<S::Future>
    where
        S: Service<Request<B>>,
    {
        BodyTimeoutFuture::new(self.inner.call(request), self.limits, asked)
    }
}
