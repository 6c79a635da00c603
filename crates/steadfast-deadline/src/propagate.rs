use std::sync::Arc;
use std::task::{Context, Poll};

use http::Request;
use steadfast_core::order::enter;
use steadfast_core::{Attempt, BoxError, CallContext, CallState, Deadline, LayerKind};
use tower_service::Service;

use crate::clock;
use crate::due::due;

mod config;
mod future;
mod layer;
mod write;

pub use config::PropagateConfig;
pub use future::PropagateFuture;
pub use layer::PropagateLayer;
use write::{Left, TooLate};

/// Tells the next hop how much time is left, anew for each attempt.
///
/// Of an attempt under an [`AttemptTimeout`](crate::AttemptTimeout) further out that is the
/// attempt's time, where it is less than the call's; a gRPC request is always told the call's,
/// whatever the header, since it covers the stream, which may go on after the head. Without a
/// deadline of the call nothing is told, whatever the attempt's timeout.
///
/// What the request says itself is replaced, since it was true for another attempt, unless it is
/// shorter: nothing here lengthens a limit. Without a deadline gRPC's own time stays, which callers
/// set themselves; other headers of time are removed, as another hop's that were copied. An
/// attempt with less time than a header can tell is not sent. Answers and errors pass untouched.
#[derive(Clone, Debug)]
pub struct Propagate<S> {
    inner: S,
    config: Arc<PropagateConfig>,
}

impl<S> Propagate<S> {
    /// Tells those behind `inner` what this configuration says.
    pub fn new(inner: S, config: PropagateConfig) -> Self {
        let config = Arc::new(config);
        Self { inner, config }
    }

    /// What is told.
    pub fn config(&self) -> &PropagateConfig {
        &self.config
    }

    /// The inner service.
    pub const fn get_ref(&self) -> &S {
        &self.inner
    }

    /// Writes the headers of one attempt.
    fn tell<B>(&self, request: &mut Request<B>) -> Result<(), TooLate> {
        let config = &*self.config;
        let deadline = due(request.extensions());
        let state = CallState::of(request.extensions());
        let number = state
            .and_then(CallState::attempt)
            .map_or(1, |Attempt { number, .. }| number);
        let ends = state.map_or(Deadline::NONE, CallState::attempt_ends);
        let started = state.and_then(CallState::started);
        let ages = config.age_header().is_some() && started.is_some();
        // Nothing is compared with the clock where nothing is due.
        let now = (ages || deadline.earliest(ends) != Deadline::NONE).then(clock::now);
        let left = Left {
            call: now.and_then(|now| deadline.left(now)),
            attempt: now.and_then(|now| deadline.earliest(ends).left(now)),
        };

        let headers = request.headers_mut();
        write::time_left(config, left, headers)?;
        write::attempt(config, number, headers);
        if config.age_header().is_some() {
            let begun = now
                .zip(started)
                .map(|(now, begun)| now.saturating_duration_since(begun));
            write::age(
                config,
                begun.or((number == 1).then_some(std::time::Duration::ZERO)),
                headers,
            );
        }
        if config.operation_header().is_some() {
            write::operation(config, CallContext::current().operation(), headers);
        }
        Ok(())
    }
}

impl<S, B> Service<Request<B>> for Propagate<S>
where
    S: Service<Request<B>, Error: Into<BoxError>>,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = PropagateFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    #[inline(never)]
    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let _entered = enter(LayerKind::Propagate);
        match self.tell(&mut request) {
            Ok(()) => PropagateFuture::sent(self.inner.call(request)),
            Err(TooLate) => PropagateFuture::refused(),
        }
    }
}
