use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, BufMut, BytesMut};
use http::response;
use http_body::Body;
use pin_project_lite::pin_project;

use crate::last::LastAnswer;
use crate::response_body::KeptAnswer;

pin_project! {
    /// The answer of a failed attempt, read while the call waits, so that its connection is free
    /// for the next attempt and the caller can still be given what the peer said.
    pub(crate) struct Drain<R> {
        #[pin]
        body: R,
        head: Option<Box<response::Parts>>,
        kept: Option<KeptAnswer>,
        buffer: BytesMut,
        keep_limit: usize,
        room: usize,
        ended: bool,
    }
}

impl<R: Body> Drain<R> {
    /// Reads at most `drain_limit` bytes and keeps a body of at most `keep_limit`.
    pub(crate) fn new(
        head: response::Parts,
        body: R,
        (keep_limit, drain_limit): (usize, usize),
    ) -> Self {
        Self {
            body,
            head: Some(Box::new(head)),
            kept: Some(KeptAnswer::default()),
            buffer: BytesMut::new(),
            keep_limit,
            room: drain_limit,
            ended: false,
        }
    }

    /// Reads until the body ends or a bound is met; ready when there is nothing more to do.
    pub(crate) fn poll_drain(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut this = self.project();
        while !*this.ended && *this.room > 0 {
            if this.body.is_end_stream() {
                *this.ended = true;
                break;
            }
            match ready!(this.body.as_mut().poll_frame(cx)) {
                None => *this.ended = true,
                Some(Err(_)) => *this.room = 0,
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => {
                        // An endless row of empty frames must end too.
                        *this.room = this.room.saturating_sub(data.remaining().max(1));
                        if this.buffer.len() + data.remaining() > *this.keep_limit {
                            *this.kept = None;
                        }
                        if this.kept.is_some() {
                            this.buffer.put(data);
                        }
                    }
                    Err(frame) => {
                        *this.room -= 1;
                        let trailers = frame.into_trailers().ok();
                        if let Some(kept) = this.kept.as_mut() {
                            kept.trailers = trailers;
                        }
                    }
                },
            }
        }
        Poll::Ready(())
    }

    /// What remains, once; the body itself is dropped with this.
    pub(crate) fn take(self: Pin<&mut Self>) -> Option<Box<LastAnswer>> {
        let this = self.project();
        let head = *this.head.take()?;
        let body = this.kept.take().filter(|_| *this.ended);
        let data = std::mem::take(this.buffer).freeze();
        let body = body.map(|kept| KeptAnswer { data, ..kept });
        Some(Box::new(LastAnswer { head, body }))
    }
}
