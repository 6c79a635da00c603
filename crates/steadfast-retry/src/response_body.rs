use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use steadfast_core::BoxError;

pin_project! {
    /// The body of an answer that passed a retry layer: the peer's own, or what was kept of the
    /// last answer when a later attempt could not be sent.
    ///
    /// Frames, their order, the end flag and the size hint are those of the peer's body, also
    /// where its beginning was read before it was handed on.
    #[derive(Debug)]
    pub struct ResponseBody<R> {
        // What was read before; a box, because most bodies have nothing of it.
        frames: Option<Box<Frames>>,
        #[pin]
        rest: Rest<R>,
    }
}

pin_project! {
    #[project = RestProj]
    #[derive(Debug)]
    enum Rest<R> {
        Live { #[pin] body: R },
        Held { body: Pin<Box<R>> },
        Nothing,
    }
}

/// Frames that were read, and perhaps the error after them, each with the size hint before it.
pub(crate) type Frames = VecDeque<(SizeHint, Result<Frame<Bytes>, BoxError>)>;

impl<R> ResponseBody<R> {
    /// The peer's own.
    pub(crate) const fn live(body: R) -> Self {
        Self {
            frames: None,
            rest: Rest::Live { body },
        }
    }

    /// All that there is.
    pub(crate) fn kept(frames: Frames) -> Self {
        Self {
            frames: boxed(frames),
            rest: Rest::Nothing,
        }
    }

    /// What was read, and then the rest.
    pub(crate) fn held(frames: Frames, body: Pin<Box<R>>) -> Self {
        Self {
            frames: boxed(frames),
            rest: Rest::Held { body },
        }
    }
}

impl<R> ResponseBody<R> {
    /// The size hint before the next of the frames that were read.
    fn front(&self) -> Option<SizeHint> {
        self.frames.as_ref()?.front().map(|(hint, _)| *hint)
    }
}

fn boxed(frames: Frames) -> Option<Box<Frames>> {
    (!frames.is_empty()).then(|| Box::new(frames))
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
        let this = self.project();
        if let Some((_, frame)) = this.frames.as_mut().and_then(|frames| frames.pop_front()) {
            return Poll::Ready(Some(frame));
        }
        match this.rest.project() {
            RestProj::Live { body } => body.poll_frame(cx).map(in_bytes),
            RestProj::Held { body } => body.as_mut().poll_frame(cx).map(in_bytes),
            RestProj::Nothing => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.front().is_none()
            && match &self.rest {
                Rest::Live { body } => body.is_end_stream(),
                Rest::Held { body } => body.is_end_stream(),
                Rest::Nothing => true,
            }
    }

    fn size_hint(&self) -> SizeHint {
        match (self.front(), &self.rest) {
            (Some(hint), _) => hint,
            (None, Rest::Live { body }) => body.size_hint(),
            (None, Rest::Held { body }) => body.size_hint(),
            (None, Rest::Nothing) => SizeHint::with_exact(0),
        }
    }
}

/// Costs nothing where the data are `Bytes` already.
pub(crate) fn in_bytes<D: Buf, E: Into<BoxError>>(
    frame: Option<Result<Frame<D>, E>>,
) -> Option<Result<Frame<Bytes>, BoxError>> {
    let bytes = |mut data: D| data.copy_to_bytes(data.remaining());
    Some(
        frame?
            .map(|frame| frame.map_data(bytes))
            .map_err(Into::into),
    )
}
