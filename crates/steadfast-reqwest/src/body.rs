use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use steadfast_core::BoxError;
use sync_wrapper::SyncWrapper;

/// Any body as one of reqwest's: one box, and none for a body that ended before it began.
///
/// reqwest cannot send such a body again by itself, whatever is inside: repeating is decided above.
pub(crate) fn outgoing<B>(body: B) -> reqwest::Body
where
    B: Body<Data: Buf, Error: Into<BoxError>> + Send + 'static,
{
    if body.is_end_stream() {
        return reqwest::Body::default();
    }
    reqwest::Body::wrap(Outgoing {
        hint: body.size_hint(),
        ended: false,
        body: SyncWrapper::new(body),
    })
}

pin_project! {
    /// A body that is `Sync` because nobody looks at it but through `&mut`: reqwest asks for that.
    struct Outgoing<B> {
        #[pin]
        body: SyncWrapper<B>,
        // What the body says of itself through `&`, as it was after the last frame.
        hint: SizeHint,
        ended: bool,
    }
}

impl<B> Body for Outgoing<B>
where
    B: Body<Data: Buf, Error: Into<BoxError>>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = self.project();
        let mut body = this.body.get_pin_mut();
        let frame = ready!(body.as_mut().poll_frame(cx));
        *this.hint = body.size_hint();
        *this.ended = body.is_end_stream();
        // Bytes stay what they are: this copies only other kinds of buffers.
        let bytes = |mut data: B::Data| data.copy_to_bytes(data.remaining());
        Poll::Ready(frame.map(|frame| frame.map(|frame| frame.map_data(bytes)).map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        self.ended
    }

    fn size_hint(&self) -> SizeHint {
        self.hint
    }
}
