use std::task::{Context, Poll};
use std::time::Duration;

use http::Request;
use steadfast_core::order::enter;
use steadfast_core::{BoxError, CallState, Cut, Deadline, LayerKind, at_once};
use tokio::time::Instant;
use tower_service::Service;

use crate::clock;
use crate::due::due;

mod future;
mod layer;
mod share;

pub use future::ResponseFuture;
pub use layer::AttemptTimeoutLayer;
use share::{Share, share};

/// Ends each attempt in time; see the crate's page.
///
/// It bounds the wait for the response head. What the body does afterwards is not its business.
#[derive(Clone, Copy, Debug)]
pub struct AttemptTimeout<S> {
    inner: S,
    limit: Duration,
}

impl<S> AttemptTimeout<S> {
    /// Gives each attempt on `inner` this much time, or less where a deadline leaves less.
    ///
    /// `Duration::MAX` is no limit; zero refuses every call.
    pub const fn new(inner: S, limit: Duration) -> Self {
        Self { inner, limit }
    }

    /// The configured time of one attempt.
    pub const fn limit(&self) -> Duration {
        self.limit
    }

    /// The inner service.
    pub const fn get_ref(&self) -> &S {
        &self.inner
    }
}

impl<S, B> Service<Request<B>> for AttemptTimeout<S>
where
    S: Service<Request<B>, Error: Into<BoxError>>,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = ResponseFuture<S::Future>;

    /// Ready when the inner service is; waiting for that is not part of an attempt's time.
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    #[inline(never)]
    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let _entered = enter(LayerKind::AttemptTimeout);
        let deadline = due(request.extensions());
        // Without a deadline nothing has to be compared with the clock yet.
        if deadline.instant().is_none() {
            return match share(self.limit, None) {
                Share::Nothing => ResponseFuture::refused(),
                Share::Unlimited => self.free(request),
                Share::Of(time, cut) => self.limited(request, None, time, cut),
            };
        }
        let now = clock::now();
        match share(self.limit, deadline.left(now)) {
            Share::Nothing => ResponseFuture::refused(),
            Share::Unlimited => at_once(now, || self.free(request)),
            Share::Of(time, cut) => {
                if cut == Cut::AttemptTimeout {
                    let ends = Deadline::after(now, time);
                    CallState::edit(request.extensions_mut(), |state| {
                        state.set_attempt_ends(state.attempt_ends().earliest(ends))
                    });
                }
                at_once(now, || self.limited(request, Some(now.into()), time, cut))
            }
        }
    }
}

/// In functions of their own that own nothing besides, so that the inner future, which may be
/// large, is made where it stays: what has to be dropped on a panic makes the compiler move it.
impl<S> AttemptTimeout<S> {
    #[inline(never)]
    fn free<B>(&mut self, request: Request<B>) -> ResponseFuture<S::Future>
    where
        S: Service<Request<B>>,
    {
        ResponseFuture::free(self.inner.call(request))
    }

    #[inline(never)]
    fn limited<B>(
        &mut self,
        request: Request<B>,
        started: Option<Instant>,
        time: Duration,
        cut: Cut,
    ) -> ResponseFuture<S::Future>
    where
        S: Service<Request<B>>,
    {
        ResponseFuture::limited(self.inner.call(request), started, time, cut)
    }
}
