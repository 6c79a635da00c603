use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

pin_project! {
    /// The body of an answer: bytes that are all here, or the handler's own body.
    ///
    /// The handler's own passes where nothing is kept: safe methods and failures.
    #[derive(Clone, Debug)]
    pub struct ResponseBody<R> {
        #[pin]
        kind: Kind<R>,
    }
}

pin_project! {
    #[project = KindProj]
    #[derive(Clone, Debug)]
    enum Kind<R> {
        Full { bytes: Option<Bytes> },
        Inner { #[pin] body: R },
    }
}

impl<R> ResponseBody<R> {
    pub(crate) fn full(bytes: Bytes) -> Self {
        // An empty body has no frame, so that it is at its end from the start.
        let bytes = Some(bytes).filter(|bytes| !bytes.is_empty());
        let kind = Kind::Full { bytes };
        Self { kind }
    }

    pub(crate) const fn inner(body: R) -> Self {
        let kind = Kind::Inner { body };
        Self { kind }
    }
}

impl<R: Body<Data = Bytes>> Body for ResponseBody<R> {
    type Data = Bytes;
    type Error = R::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, R::Error>>> {
        match self.project().kind.project() {
            KindProj::Full { bytes } => {
                Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes))))
            }
            KindProj::Inner { body } => body.poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Full { bytes } => bytes.is_none(),
            Kind::Inner { body } => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Full { bytes } => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Kind::Inner { body } => body.size_hint(),
        }
    }
}
