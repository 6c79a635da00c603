use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use steadfast_core::BoxError;

pin_project! {
    /// The body of an answer that passed a [`Fallback`](super::Fallback): the peer's, or the
    /// bytes that stand in for it.
    ///
    /// Frames, end flag and size hint of the peer's body are its own; its data are copied only
    /// where they are not [`Bytes`] already.
    #[derive(Debug)]
    pub struct FallbackBody<R> {
        #[pin]
        body: Whose<R>,
    }
}

pin_project! {
    #[project = WhoseProj]
    #[derive(Debug)]
    enum Whose<R> {
        Peer { #[pin] body: R },
        Own { bytes: Bytes },
    }
}

impl<R> FallbackBody<R> {
    pub(super) const fn peer(body: R) -> Self {
        let body = Whose::Peer { body };
        Self { body }
    }

    pub(super) const fn own(bytes: Bytes) -> Self {
        let body = Whose::Own { bytes };
        Self { body }
    }
}

impl<R> Body for FallbackBody<R>
where
    R: Body<Error: Into<BoxError>>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match self.project().body.project() {
            WhoseProj::Peer { body } => body.poll_frame(cx).map(in_bytes),
            WhoseProj::Own { bytes } => {
                let all = std::mem::take(bytes);
                Poll::Ready((!all.is_empty()).then(|| Ok(Frame::data(all))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.body {
            Whose::Peer { body } => body.is_end_stream(),
            Whose::Own { bytes } => bytes.is_empty(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.body {
            Whose::Peer { body } => body.size_hint(),
            Whose::Own { bytes } => SizeHint::with_exact(bytes.len() as u64),
        }
    }
}

fn in_bytes<D: Buf, E: Into<BoxError>>(
    frame: Option<Result<Frame<D>, E>>,
) -> Option<Result<Frame<Bytes>, BoxError>> {
    let bytes = |mut data: D| data.copy_to_bytes(data.remaining());
    let frame = frame?.map(|frame| frame.map_data(bytes));
    Some(frame.map_err(Into::into))
}
