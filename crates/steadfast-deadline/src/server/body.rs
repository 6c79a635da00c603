use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use steadfast_core::CallContext;
use tokio::time::{Instant, Sleep, sleep_until};

use super::dialect::LastWords;

pin_project! {
    /// The body of an answer: the handler's own, or the words of the layer.
    ///
    /// The body of a gRPC answer ends by the deadline, with trailers that say so, and is polled
    /// in the call context, because a gRPC handler often works on while it streams. gRPC-Web's
    /// trailers are a frame of its data; a stream in base64 (`application/grpc-web-text`) has no
    /// place for them and is left alone, like any other body: there a deadline bounds the wait
    /// for the head.
    ///
    /// # Panics
    ///
    /// Where a gRPC deadline is in force and the body is pending, outside of a tokio runtime with
    /// time enabled.
    #[derive(Debug)]
    pub struct ResponseBody<R> {
        #[pin]
        kind: Kind<R>,
    }
}

pin_project! {
    #[project = KindProj]
    #[derive(Debug)]
    enum Kind<R> {
        Full { bytes: Option<Bytes> },
        Inner { #[pin] body: R },
        Limited {
            #[pin] body: R,
            #[pin] timer: Option<Sleep>,
            end: Instant,
            context: CallContext,
            last: LastWords,
        },
        Ended,
    }
}

impl<R> ResponseBody<R> {
    pub(crate) fn full(bytes: Bytes) -> Self {
        let bytes = Some(bytes).filter(|bytes| !bytes.is_empty());
        let kind = Kind::Full { bytes };
        Self { kind }
    }

    pub(crate) const fn inner(body: R) -> Self {
        let kind = Kind::Inner { body };
        Self { kind }
    }

    pub(crate) const fn limited(
        body: R,
        end: Instant,
        context: CallContext,
        last: LastWords,
    ) -> Self {
        let timer = None;
        let kind = Kind::Limited {
            body,
            timer,
            end,
            context,
            last,
        };
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
        let mut kind = self.project().kind;
        let words = match kind.as_mut().project() {
            KindProj::Full { bytes } => {
                return Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes))));
            }
            KindProj::Inner { body } => return body.poll_frame(cx),
            KindProj::Limited {
                body,
                mut timer,
                end,
                context,
                last,
            } => {
                if let Poll::Ready(frame) = context.run(|| body.poll_frame(cx)) {
                    // A source that always has a frame never waits for the timer.
                    if !matches!(&frame, Some(Ok(frame)) if frame.is_data())
                        || Instant::now() < *end
                    {
                        return Poll::Ready(frame);
                    }
                } else {
                    if timer.is_none() {
                        timer.set(Some(sleep_until(*end)));
                    }
                    match timer.as_pin_mut().map(|timer| timer.poll(cx)) {
                        Some(Poll::Ready(())) => {}
                        Some(Poll::Pending) | None => return Poll::Pending,
                    }
                }
                last.frame()
            }
            KindProj::Ended => return Poll::Ready(None),
        };
        // What the handler's body holds goes now, not when the connection drops this one.
        kind.set(Kind::Ended);
        Poll::Ready(Some(Ok(words)))
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Full { bytes } => bytes.is_none(),
            Kind::Inner { body } | Kind::Limited { body, .. } => body.is_end_stream(),
            Kind::Ended => true,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Full { bytes } => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            // The end may come first, so only an empty body's size is certain.
            Kind::Inner { body } => body.size_hint(),
            Kind::Limited { body, .. } if body.is_end_stream() => body.size_hint(),
            Kind::Limited { .. } => SizeHint::default(),
            Kind::Ended => SizeHint::with_exact(0),
        }
    }
}
