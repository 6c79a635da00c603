use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::Response;
use pin_project_lite::pin_project;
use steadfast_admission::arrivals::ArrivalsFuture;
use steadfast_deadline::server as deadline;

use super::ResponseBody;

type Call<F> = deadline::ResponseFuture<ArrivalsFuture<F>>;

pin_project! {
    /// The future of a [`Standard`](super::Standard): one request's answer.
    ///
    /// Dropped, it drops the service's.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct StandardFuture<F> {
        #[pin]
        call: Call<F>,
    }
}

impl<F> StandardFuture<F> {
    #[inline]
    pub(super) const fn new(call: Call<F>) -> Self {
        Self { call }
    }
}

impl<F, R, E> Future for StandardFuture<F>
where
    F: Future<Output = Result<Response<R>, E>>,
{
    type Output = Result<Response<ResponseBody<R>>, E>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = self.project().call.poll(cx);
        answer.map_ok(|answer| answer.map(ResponseBody::new))
    }
}
