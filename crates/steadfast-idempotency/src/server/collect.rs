use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes, BytesMut};
use http_body::Body;
use pin_project_lite::pin_project;

pin_project! {
    /// Reads a body whole, up to a limit; a body that announces more is not read at all.
    pub(crate) struct Collect<B> {
        #[pin]
        body: B,
        limit: usize,
        // One frame is the usual case and is kept without a copy.
        first: Bytes,
        rest: BytesMut,
        trailers: bool,
    }
}

/// A body that was read whole.
#[derive(Debug)]
pub(crate) struct Collected {
    pub(crate) bytes: Bytes,
    pub(crate) trailers: bool,
}

/// A body that was not.
#[derive(Debug)]
pub(crate) enum CollectError<E> {
    TooLarge,
    Body(E),
}

impl<B> Collect<B> {
    pub(crate) fn new(body: B, limit: usize) -> Self {
        Self {
            body,
            limit,
            first: Bytes::new(),
            rest: BytesMut::new(),
            trailers: false,
        }
    }
}

impl<B> Collect<B> {
    /// What was read so far, and what follows it.
    pub(crate) fn into_parts(self) -> (Bytes, B) {
        let read = match self.rest.is_empty() {
            true => self.first,
            false => self.rest.freeze(),
        };
        (read, self.body)
    }
}

impl<B: Body> Future for Collect<B> {
    type Output = Result<Collected, CollectError<B::Error>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            let read = this.first.len() + this.rest.len();
            let announced = this.body.size_hint().lower();
            if announced > (*this.limit - read) as u64 {
                return Poll::Ready(Err(CollectError::TooLarge));
            }
            let frame = match ready!(this.body.as_mut().poll_frame(cx)) {
                Some(Ok(frame)) => frame,
                Some(Err(error)) => return Poll::Ready(Err(CollectError::Body(error))),
                None => break,
            };
            let Ok(mut data) = frame.into_data() else {
                *this.trailers = true;
                continue;
            };
            let over = data.remaining() > *this.limit - read;
            if read == 0 {
                *this.first = data.copy_to_bytes(data.remaining());
            } else {
                if this.rest.is_empty() {
                    this.rest.extend_from_slice(&std::mem::take(this.first));
                }
                this.rest
                    .extend_from_slice(&data.copy_to_bytes(data.remaining()));
            }
            if over {
                return Poll::Ready(Err(CollectError::TooLarge));
            }
        }
        let bytes = match this.rest.is_empty() {
            true => std::mem::take(this.first),
            false => std::mem::take(this.rest).freeze(),
        };
        Poll::Ready(Ok(Collected {
            bytes,
            trailers: *this.trailers,
        }))
    }
}
