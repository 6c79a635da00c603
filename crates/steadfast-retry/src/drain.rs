use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::response;
use http_body::Body;
use pin_project_lite::pin_project;
use steadfast_core::BoxError;

use crate::last::LastAnswer;
use crate::response_body::{Frames, in_bytes};

pin_project! {
    /// The answer of a failed attempt, read while the call waits, so that its connection is free
    /// for the next attempt and the caller can still be given what the peer said.
    pub(crate) struct Drain<R> {
        #[pin]
        body: R,
        head: Option<Box<response::Parts>>,
        // `None` once it is too long to keep.
        kept: Option<Frames>,
        keep_room: usize,
        room: usize,
        ended: bool,
    }
}

impl<R: Body<Error: Into<BoxError>>> Drain<R> {
    /// Reads at most `drain_limit` bytes and keeps a body of at most `keep_limit`.
    pub(crate) fn new(
        head: response::Parts,
        body: R,
        (keep_limit, drain_limit): (usize, usize),
    ) -> Self {
        Self {
            body,
            head: Some(Box::new(head)),
            kept: Some(Frames::new()),
            keep_room: keep_limit,
            room: drain_limit,
            ended: false,
        }
    }

    /// Reads until the body ends or a bound is met; ready when there is nothing more to do.
    pub(crate) fn poll_drain(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut this = self.project();
        while !*this.ended {
            if this.body.is_end_stream() {
                *this.ended = true;
                break;
            }
            if *this.room == 0 {
                break;
            }
            let hint = this.body.size_hint();
            let Some(frame) = in_bytes(ready!(this.body.as_mut().poll_frame(cx))) else {
                *this.ended = true;
                break;
            };
            let Ok(frame) = frame else {
                *this.room = 0;
                break;
            };
            let data = frame.data_ref().map_or(0, |data| data.len());
            // An endless row of empty frames must end too.
            *this.room = this.room.saturating_sub(data.max(1));
            match this.keep_room.checked_sub(data) {
                Some(left) => *this.keep_room = left,
                None => *this.kept = None,
            }
            // Empty frames are worth nothing to the caller, and without a bound in bytes.
            if let Some(kept) = this
                .kept
                .as_mut()
                .filter(|_| data > 0 || frame.is_trailers())
            {
                kept.push_back((hint, Ok(frame)));
            }
        }
        Poll::Ready(())
    }

    /// What remains, once; the body itself is dropped with this.
    pub(crate) fn take(self: Pin<&mut Self>) -> Option<Box<LastAnswer>> {
        let this = self.project();
        let head = *this.head.take()?;
        let body = this.kept.take().filter(|_| *this.ended);
        Some(Box::new(LastAnswer { head, body }))
    }
}
