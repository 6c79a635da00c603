use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

pin_project! {
    /// The body of an answer: bytes that are all here, or the handler's own body.
    ///
    /// The handler's own passes where nothing is kept of it: safe methods, failures, and answers of
    /// which a tombstone is kept.
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
        // Begun, and found too large to be kept.
        Rest { first: Option<Bytes>, rest: Pin<Box<R>> },
    }
}

impl<R> ResponseBody<R> {
    pub(crate) fn full(bytes: Bytes) -> Self {
        // An empty body has no frame, so that it is at its end from the start.
        let bytes = Some(bytes).filter(|bytes| !bytes.is_empty());
        let kind = Kind::Full { bytes };
        Self { kind }
    }

    pub(crate) fn rest(first: Bytes, rest: Pin<Box<R>>) -> Self {
        let first = Some(first).filter(|first| !first.is_empty());
        let kind = Kind::Rest { first, rest };
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
            KindProj::Rest { first, rest } => match first.take() {
                Some(first) => Poll::Ready(Some(Ok(Frame::data(first)))),
                None => rest.as_mut().poll_frame(cx),
            },
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Full { bytes } => bytes.is_none(),
            Kind::Inner { body } => body.is_end_stream(),
            Kind::Rest { first, rest } => first.is_none() && rest.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Full { bytes } => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Kind::Inner { body } => body.size_hint(),
            Kind::Rest { first, rest } => {
                let read = first.as_ref().map_or(0, |first| first.len() as u64);
                let left = rest.size_hint();
                let mut hint = SizeHint::new();
                hint.set_lower(read.saturating_add(left.lower()));
                if let Some(upper) = left.upper() {
                    hint.set_upper(read.saturating_add(upper));
                }
                hint
            }
        }
    }
}
