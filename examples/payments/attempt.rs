//! A layer of the example's own, below retry: it tells the fault plan which attempt a request is.

use std::task::{Context, Poll};

use http::{HeaderValue, Request};
use steadfast::CallState;
use tower::{Layer, Service};

use crate::server::ATTEMPT;

/// Writes the attempt's number into a header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AttemptHeaderLayer;

impl<S> Layer<S> for AttemptHeaderLayer {
    type Service = AttemptHeader<S>;

    fn layer(&self, inner: S) -> AttemptHeader<S> {
        AttemptHeader(inner)
    }
}

/// The service of [`AttemptHeaderLayer`].
#[derive(Clone, Debug)]
pub(crate) struct AttemptHeader<S>(S);

impl<S: Service<Request<B>>, B> Service<Request<B>> for AttemptHeader<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<B>) -> S::Future {
        // A first attempt may travel without a state: making one costs allocations, so retry does
        // not. Every later one has it.
        let attempt = CallState::of(request.extensions()).and_then(CallState::attempt);
        let number = attempt.map_or(1, |attempt| attempt.number);
        request
            .headers_mut()
            .insert(ATTEMPT, HeaderValue::from(number));
        self.0.call(request)
    }
}
