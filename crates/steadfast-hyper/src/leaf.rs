use std::task::{Context, Poll};

use bytes::Buf;
use http::Request;
use http_body::Body;
use steadfast_core::BoxError;
use tower_layer::Layer;
use tower_service::Service;

use crate::LeafBody;

/// Lets a client with one fixed body type stand below layers that change the body's type.
///
/// The answer, its body, the errors and the future are the client's own. A body costs one box per
/// request; an empty one costs none. Below the retry layer that is one box per attempt: a client
/// that can be built for the type above it needs no leaf.
#[derive(Clone, Copy, Debug)]
pub struct Leaf<S> {
    inner: S,
}

impl<S> Leaf<S> {
    /// Puts a leaf on `inner`, a service of `Request<LeafBody>`.
    pub const fn new(inner: S) -> Self {
        Self { inner }
    }
}

impl<S, B> Service<Request<B>> for Leaf<S>
where
    S: Service<Request<LeafBody>>,
    B: Body<Data: Buf, Error: Into<BoxError>> + Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> S::Future {
        self.inner.call(request.map(LeafBody::new))
    }
}

/// Puts a [`Leaf`] on a service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeafLayer;

impl LeafLayer {
    /// The layer; it has no knobs.
    pub const fn new() -> Self {
        Self
    }
}

impl<S> Layer<S> for LeafLayer {
    type Service = Leaf<S>;

    fn layer(&self, inner: S) -> Leaf<S> {
        Leaf::new(inner)
    }
}
