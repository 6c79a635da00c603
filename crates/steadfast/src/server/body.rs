use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use steadfast_admission::arrivals::ArrivalsBody;
use steadfast_deadline::server as deadline;

type Answered<R> = deadline::ResponseBody<ArrivalsBody<R>>;

pin_project! {
    /// The body of an answer through a [`Standard`](super::Standard): the service's own, ended
    /// with its caller's time where the protocol says so, or the words of a refusal.
    #[derive(Debug)]
    pub struct ResponseBody<R> {
        #[pin]
        body: Answered<R>,
    }
}

impl<R> ResponseBody<R> {
    pub(super) const fn new(body: Answered<R>) -> Self {
        Self { body }
    }
}

impl<R: Body<Data = Bytes>> Body for ResponseBody<R> {
    type Data = Bytes;
    type Error = R::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, R::Error>>> {
        self.project().body.poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
