use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::{Request, Response};
use http_body::Body;
use pin_project_lite::pin_project;
use steadfast_admission::breaker::{Breaker, BreakerBody, BreakerFuture};
use steadfast_admission::bulkhead::{BulkheadBody, BulkheadFuture};
use steadfast_admission::cooldown::CooldownFuture;
use steadfast_core::BoxError;
use steadfast_deadline::{BodyTimeoutFuture, CallFuture, PropagateFuture, TimedBody};
use steadfast_idempotency::client as keys;
use steadfast_retry::{self as retry, ReplayBody};
use tower_service::Service;

use super::ResponseBody;
use super::stack::{Admitted, Timed};

/// The answer's body as retry gets it.
pub(super) type Attempted<R> = BulkheadBody<BreakerBody<TimedBody<R>>>;

type Call<S, F, B, R> = CallFuture<
    keys::ResponseFuture<retry::ResponseFuture<Admitted<S>, Attempt<S, F, B>, B, Attempted<R>>>,
>;

type Attempt<S, F, B> = CooldownFuture<
    BulkheadFuture<
        Breaker<Timed<S>>,
        BreakerFuture<steadfast_deadline::ResponseFuture<BodyTimeoutFuture<PropagateFuture<F>>>>,
        ReplayBody<B>,
    >,
>;

pin_project! {
    /// The future of a [`Standard`](super::Standard): a whole call.
    ///
    /// Dropped at any point it ends everything at once: no later attempt, timers freed, the call's
    /// places, probe and budget given back.
    #[must_use = "futures do nothing unless polled"]
    pub struct StandardFuture<S, F, B, R> {
        #[pin]
        call: Call<S, F, B, R>,
    }
}

impl<S, F, B, R> StandardFuture<S, F, B, R> {
    #[inline]
    pub(super) const fn new(call: Call<S, F, B, R>) -> Self {
        Self { call }
    }
}

impl<S, B, R> Future for StandardFuture<S, S::Future, B, R>
where
    S: Service<Request<ReplayBody<B>>, Response = Response<R>, Error: Into<BoxError>> + Clone,
    B: Body<Error: Into<BoxError>> + Unpin,
    R: Body<Error: Into<BoxError>>,
{
    type Output = Result<Response<ResponseBody<R>>, BoxError>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = self.project().call.poll(cx);
        answer.map_ok(|answer| answer.map(ResponseBody::new))
    }
}

impl<S, F, B, R> fmt::Debug for StandardFuture<S, F, B, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StandardFuture").finish_non_exhaustive()
    }
}
