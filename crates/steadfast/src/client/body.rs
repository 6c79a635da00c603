use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use steadfast_core::BoxError;
use steadfast_retry as retry;

use super::future::Attempted;

pin_project! {
    /// The body of an answer through a [`Standard`](super::Standard).
    ///
    /// While it goes on the call has its place, the breaker watches, and silence ends it. Dropped,
    /// all of that ends.
    #[derive(Debug)]
    pub struct ResponseBody<R> {
        #[pin]
        body: retry::ResponseBody<Attempted<R>>,
    }
}

impl<R> ResponseBody<R> {
    pub(super) const fn new(body: retry::ResponseBody<Attempted<R>>) -> Self {
        Self { body }
    }
}

impl<R> Body for ResponseBody<R>
where
    R: Body<Error: Into<BoxError>>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        self.project().body.poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
