use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderMap, Request};
use http_body::Body;
use steadfast_core::grpc::{self, Transport};
use steadfast_core::{Announced, BoxError, CallState, TimeoutHeader};
use tower_layer::Layer;
use tower_service::Service;

use crate::clock;

/// Carries any body into tonic's `Channel`, and what an attempt must say in gRPC's own headers.
///
/// - The body becomes a [`tonic::body::Body`]: one box for each attempt.
/// - `grpc-previous-rpc-attempts` counts the attempts before this one; the first has none
///   (gRFC A6). Repeats of what the protocol refused are not counted.
/// - `grpc-timeout` is what is left of the call's deadline, never more than the request said.
///
/// Requests that are no gRPC get neither. Innermost. Answer, errors and future are the channel's own.
#[derive(Clone, Copy, Debug)]
pub struct Leaf<S> {
    inner: S,
}

impl<S> Leaf<S> {
    /// Puts a leaf on a channel, or on whatever else takes tonic's bodies.
    pub const fn new(inner: S) -> Self {
        Self { inner }
    }
}

impl<S, B> Service<Request<B>> for Leaf<S>
where
    S: Service<Request<tonic::body::Body>>,
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> S::Future {
        let mut request = request.map(tonic::body::Body::new);
        let state = CallState::of(request.extensions()).cloned();
        if let Some(state) = state.filter(|_| Transport::of(request.headers()).is_some()) {
            tell(&state, request.headers_mut());
        }
        self.inner.call(request)
    }
}

fn tell(state: &CallState, headers: &mut HeaderMap) {
    match state.attempt().map(|attempt| attempt.number) {
        None => {}
        Some(0 | 1) => drop(headers.remove(grpc::PREVIOUS_ATTEMPTS)),
        Some(number) => drop(headers.insert(grpc::PREVIOUS_ATTEMPTS, (number - 1).into())),
    }
    let Some(left) = state.deadline().left(clock::now()) else {
        return;
    };
    let header = TimeoutHeader::grpc();
    let said = headers.get(header.name());
    let said = said.and_then(|line| header.format().decode(line.as_bytes()).ok());
    let left = said.map_or(left, |said| said.min(left));
    // Too little is for the layers above to refuse.
    if let Announced::Left(value) = header.format().encode(left) {
        headers.insert(header.name(), value);
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
