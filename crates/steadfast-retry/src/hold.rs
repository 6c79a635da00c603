use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::{HeaderMap, response};
use http_body::Body;
use steadfast_core::BoxError;

use crate::ResponseBody;
use crate::response_body::{Frames, in_bytes};

/// An answer that looks well so far and is read a little before it is handed on, because its body
/// can still say that the attempt failed.
pub(crate) struct Hold<R> {
    head: Box<response::Parts>,
    body: Pin<Box<R>>,
    frames: Frames,
    until: Until,
}

/// How far an answer is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// Up to the first frame: gRPC's status stands in the trailers, and trailers that come first
    /// are the whole answer.
    FirstFrame,
    /// Up to the end, or until so many bytes were read.
    End(usize),
}

/// What a frame counts at least: many small ones cost more memory than their bytes, and an endless
/// row of empty ones must end too.
pub(crate) const FRAME: usize = 32;

/// How an answer went on.
pub(crate) enum Held {
    /// Nothing speaks against it.
    Well,
    /// It has ended with these trailers, and with data before them only where all of it was read.
    Trailers(HeaderMap),
    /// It broke; the error is the last of what was read.
    Broke,
}

impl<R: Body<Error: Into<BoxError>>> Hold<R> {
    pub(crate) fn new(head: response::Parts, body: R, until: Until) -> Self {
        Self {
            head: Box::new(head),
            body: Box::pin(body),
            frames: Frames::new(),
            until,
        }
    }

    /// Reads on; nothing that was read is lost.
    pub(crate) fn poll_hold(&mut self, cx: &mut Context<'_>) -> Poll<Held> {
        loop {
            let hint = self.body.size_hint();
            let Some(frame) = in_bytes(ready!(self.body.as_mut().poll_frame(cx))) else {
                return Poll::Ready(Held::Well);
            };
            let held = match (&frame, &mut self.until) {
                (Err(_), _) => Some(Held::Broke),
                (Ok(frame), until) => match (frame.trailers_ref(), until) {
                    (Some(trailers), _) => Some(Held::Trailers(trailers.clone())),
                    (None, Until::FirstFrame) => Some(Held::Well),
                    (None, Until::End(room)) => {
                        let data = frame.data_ref().map_or(0, |data| data.len());
                        match room.checked_sub(data.max(FRAME)) {
                            Some(left) => {
                                *room = left;
                                None
                            }
                            None => Some(Held::Well),
                        }
                    }
                },
            };
            self.frames.push_back((hint, frame));
            if let Some(held) = held {
                return Poll::Ready(held);
            }
        }
    }

    /// The answer's head.
    pub(crate) const fn head(&self) -> &response::Parts {
        &self.head
    }

    /// The error that it broke with.
    pub(crate) fn error(&self) -> Option<&BoxError> {
        self.frames.back()?.1.as_ref().err()
    }

    /// The answer as the peer gave it.
    pub(crate) fn into_answer(self) -> (response::Parts, ResponseBody<R>) {
        (*self.head, ResponseBody::held(self.frames, self.body))
    }

    /// All that was read, the rest being of no use.
    pub(crate) fn into_parts(self) -> (response::Parts, Frames) {
        (*self.head, self.frames)
    }
}
