use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use steadfast_core::BoxError;

pin_project! {
    /// The body of an answer that passed a retry layer: the peer's own, or what was kept of the
    /// last answer when a later attempt could not be sent.
    #[derive(Debug)]
    pub struct ResponseBody<R> {
        #[pin]
        repr: Repr<R>,
    }
}

pin_project! {
    #[project = ReprProj]
    #[derive(Debug)]
    enum Repr<R> {
        Live { #[pin] body: R },
        Kept { kept: KeptAnswer },
    }
}

/// The whole body of an answer, read during a wait.
#[derive(Debug, Default)]
pub(crate) struct KeptAnswer {
    pub(crate) data: Bytes,
    pub(crate) trailers: Option<HeaderMap>,
}

impl<R> ResponseBody<R> {
    pub(crate) const fn live(body: R) -> Self {
        Self {
            repr: Repr::Live { body },
        }
    }

    pub(crate) const fn kept(kept: KeptAnswer) -> Self {
        Self {
            repr: Repr::Kept { kept },
        }
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
        match self.project().repr.project() {
            ReprProj::Live { body } => body.poll_frame(cx).map(|frame| {
                // Costs nothing where the data are `Bytes` already.
                let bytes = |mut data: R::Data| data.copy_to_bytes(data.remaining());
                Some(
                    frame?
                        .map(|frame| frame.map_data(bytes))
                        .map_err(Into::into),
                )
            }),
            ReprProj::Kept { kept } if !kept.data.is_empty() => {
                Poll::Ready(Some(Ok(Frame::data(std::mem::take(&mut kept.data)))))
            }
            ReprProj::Kept { kept } => Poll::Ready(
                kept.trailers
                    .take()
                    .map(|trailers| Ok(Frame::trailers(trailers))),
            ),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.repr {
            Repr::Live { body } => body.is_end_stream(),
            Repr::Kept { kept } => kept.data.is_empty() && kept.trailers.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.repr {
            Repr::Live { body } => body.size_hint(),
            Repr::Kept { kept } => SizeHint::with_exact(kept.data.len() as u64),
        }
    }
}
