use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::Response;
use pin_project_lite::pin_project;

use super::TimedBody;
use super::limits::{Asked, Limits};
use crate::clock;

pin_project! {
    /// A call whose answer's body is timed: the future of [`BodyTimeout`](crate::BodyTimeout).
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct BodyTimeoutFuture<F> {
        #[pin]
        call: F,
        limits: Limits,
        asked: Asked,
    }
}

impl<F> BodyTimeoutFuture<F> {
    pub(super) const fn new(call: F, limits: Limits, asked: Asked) -> Self {
        Self {
            call,
            limits,
            asked,
        }
    }
}

impl<F, R, E> Future for BodyTimeoutFuture<F>
where
    F: Future<Output = Result<Response<R>, E>>,
{
    type Output = Result<Response<TimedBody<R>>, E>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let response = ready!(this.call.poll(cx))?;
        let (status, headers) = (response.status(), response.headers());
        let limits = this.limits.of(*this.asked, status, headers, clock::now);
        Poll::Ready(Ok(response.map(|body| TimedBody::new(body, limits))))
    }
}
