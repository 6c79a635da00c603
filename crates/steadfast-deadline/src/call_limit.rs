use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use http::Request;
use steadfast_core::order::enter;
use steadfast_core::{BoxError, CallState, Deadline, LayerKind, at_once};
use tower_service::Service;

use crate::clock;
use crate::due::due;

mod future;
mod layer;

pub use future::CallFuture;
pub use layer::{CallLimitLayer, LimitOverride};

/// Gives a call its deadline and ends it then, in the middle of an attempt or of a wait.
///
/// The deadline is the earliest of the limit, of what the caller put into [`CallState`], and of
/// what the served request has left
/// ([`CallContext`](steadfast_core::CallContext)). The layers below find it in [`CallState`].
/// It ends the wait for the response head; bodies are
/// [`BodyTimeout`](crate::BodyTimeout)'s affair.
///
/// Background work that outlives the request that began it opts out by name: make the call inside
/// [`without_context`](steadfast_core::without_context).
#[derive(Clone, Copy, Debug)]
pub struct CallLimit<S> {
    inner: S,
    limit: Duration,
}

impl<S> CallLimit<S> {
    /// Gives each call on `inner` this much time, or less where a deadline leaves less.
    ///
    /// `Duration::MAX` is no limit; zero refuses every call.
    pub const fn new(inner: S, limit: Duration) -> Self {
        Self { inner, limit }
    }

    /// The configured time of one call.
    pub const fn limit(&self) -> Duration {
        self.limit
    }

    /// The inner service.
    pub const fn get_ref(&self) -> &S {
        &self.inner
    }
}

impl<S, B> Service<Request<B>> for CallLimit<S>
where
    S: Service<Request<B>, Error: Into<BoxError>>,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = CallFuture<S::Future>;

    /// Ready when the inner service is; waiting for that is not part of a call's time.
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    #[inline(never)]
    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let _entered = enter(LayerKind::CallLimit);
        let own = request.extensions().get::<LimitOverride>();
        let limit = own.map_or(self.limit, |own| own.limit());
        let stated = due(request.extensions());
        if limit >= Deadline::NO_LIMIT && stated == Deadline::NONE {
            return self.free(request);
        }
        let now = clock::now();
        let deadline = Deadline::after(now, limit).earliest(stated);
        let Some(end) = deadline.instant() else {
            return self.free(request);
        };
        if end <= now {
            return CallFuture::refused();
        }
        if end - now >= Deadline::NO_LIMIT {
            return self.free(request);
        }
        CallState::edit(request.extensions_mut(), |state| {
            state.tighten_deadline(deadline);
            state.set_started(now);
        });
        at_once(now, || self.limited(request, end, end - now))
    }
}

/// In functions of their own that hold nothing besides, so that the inner future, which may be
/// large, is made where it stays: what has to be dropped on a panic makes the compiler move it.
impl<S> CallLimit<S> {
    #[inline(never)]
    fn free<B>(&mut self, request: Request<B>) -> CallFuture<S::Future>
    where
        S: Service<Request<B>>,
    {
        CallFuture::free(self.inner.call(request))
    }

    #[inline(never)]
    fn limited<B>(
        &mut self,
        request: Request<B>,
        end: Instant,
        time: Duration,
    ) -> CallFuture<S::Future>
    where
        S: Service<Request<B>>,
    {
        CallFuture::limited(self.inner.call(request), end, time)
    }
}
