use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use super::gate::Permit;

pin_project! {
    /// The body of an answer that came through a [`Bulkhead`](super::Bulkhead): the inner one,
    /// unchanged.
    ///
    /// It holds its call's place up to its end: the last frame where the inner body says so, the
    /// trailers, an error, or the end of the stream. Dropped before, it gives the place back then.
    #[derive(Debug)]
    pub struct BulkheadBody<R> {
        // Dropped first: the peer's stream is closed when the next call may begin.
        #[pin]
        body: R,
        permit: Option<Permit>,
    }
}

impl<R: Body> BulkheadBody<R> {
    #[inline]
    pub(super) fn new(body: R, permit: Option<Permit>) -> Self {
        let permit = match body.is_end_stream() {
            true => None,
            false => permit,
        };
        Self { body, permit }
    }
}

impl<R: Body> Body for BulkheadBody<R> {
    type Data = R::Data;
    type Error = R::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<R::Data>, R::Error>>> {
        let mut this = self.project();
        let frame = ready!(this.body.as_mut().poll_frame(cx));
        let goes_on = matches!(&frame, Some(Ok(frame)) if frame.is_data());
        if !goes_on || this.body.is_end_stream() {
            *this.permit = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
