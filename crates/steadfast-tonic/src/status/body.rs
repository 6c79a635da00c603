use std::pin::Pin;
use std::task::{Context, Poll};

use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use steadfast_core::BoxError;
use tonic::Status;

use super::status_of;

pin_project! {
    /// An answer's body whose errors are [`Status`]es: a deadline that passes within a stream is
    /// `DEADLINE_EXCEEDED`, not `UNKNOWN`.
    #[derive(Clone, Debug, Default)]
    pub struct StatusBody<R> {
        #[pin]
        inner: R,
    }
}

impl<R> StatusBody<R> {
    pub(super) const fn new(inner: R) -> Self {
        Self { inner }
    }
}

impl<R: Body<Error: Into<BoxError>>> Body for StatusBody<R> {
    type Data = R::Data;
    type Error = Status;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<R::Data>, Status>>> {
        let frame = self.project().inner.poll_frame(cx);
        frame.map_err(|error| status_of(error.into()))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
