use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::UnsyncBoxBody;
use pin_project_lite::pin_project;
use steadfast_core::BoxError;

/// A request body of any type, behind one type: what [`Leaf`](crate::Leaf) hands down.
///
/// Frames, trailers, size and errors are those of the body inside. A body that has ended before
/// it began, as that of most GETs, takes no box. The default is such a body.
///
/// ```
/// use bytes::Bytes;
/// use http_body::Body;
/// use http_body_util::{Empty, Full};
/// use steadfast_hyper::LeafBody;
///
/// let body = LeafBody::new(Full::new(Bytes::from("1234")));
/// assert_eq!(body.size_hint().exact(), Some(4));
/// assert!(LeafBody::new(Empty::<Bytes>::new()).is_end_stream());
/// ```
#[derive(Default)]
pub struct LeafBody {
    inner: Option<UnsyncBoxBody<Bytes, BoxError>>,
}

impl LeafBody {
    /// Puts `body` behind this type.
    pub fn new<B>(body: B) -> Self
    where
        B: Body<Data: Buf, Error: Into<BoxError>> + Send + 'static,
    {
        if body.is_end_stream() {
            return Self::default();
        }
        Self {
            inner: Some(UnsyncBoxBody::new(Uniform { body })),
        }
    }
}

impl Body for LeafBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match &mut self.inner {
            Some(body) => Pin::new(body).poll_frame(cx),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.inner
            .as_ref()
            .map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}

impl fmt::Debug for LeafBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeafBody")
            .field("boxed", &self.inner.is_some())
            .finish_non_exhaustive()
    }
}

pin_project! {
    /// A body whose data and errors have the types of [`LeafBody`]. http-body-util's `map_frame`
    /// would do, but forgets the size hint, without which a request has no content-length.
    struct Uniform<B> {
        #[pin]
        body: B,
    }
}

impl<B> Body for Uniform<B>
where
    B: Body<Data: Buf, Error: Into<BoxError>>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let frame = ready!(self.project().body.poll_frame(cx));
        // Bytes stay what they are: this copies only other kinds of buffers.
        let bytes = |mut data: B::Data| data.copy_to_bytes(data.remaining());
        Poll::Ready(frame.map(|frame| frame.map(|frame| frame.map_data(bytes)).map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
