use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

pin_project! {
    /// The body of an answer: the handler's own, or the words of a refusal.
    #[derive(Debug)]
    pub struct ArrivalsBody<R> {
        #[pin]
        kind: Kind<R>,
    }
}

pin_project! {
    #[project = KindProj]
    #[derive(Debug)]
    enum Kind<R> {
        Inner { #[pin] body: R },
        Words { bytes: Bytes },
    }
}

impl<R> ArrivalsBody<R> {
    pub(super) const fn inner(body: R) -> Self {
        Self {
            kind: Kind::Inner { body },
        }
    }

    pub(super) const fn words(bytes: Bytes) -> Self {
        Self {
            kind: Kind::Words { bytes },
        }
    }
}

impl<R: Body<Data: From<Bytes>>> Body for ArrivalsBody<R> {
    type Data = R::Data;
    type Error = R::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<R::Data>, R::Error>>> {
        match self.project().kind.project() {
            KindProj::Inner { body } => body.poll_frame(cx),
            KindProj::Words { bytes } => {
                let bytes = std::mem::take(bytes);
                let frame = (!bytes.is_empty()).then(|| Ok(Frame::data(bytes.into())));
                Poll::Ready(frame)
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Inner { body } => body.is_end_stream(),
            Kind::Words { bytes } => bytes.is_empty(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Inner { body } => body.size_hint(),
            Kind::Words { bytes } => SizeHint::with_exact(bytes.len() as u64),
        }
    }
}
