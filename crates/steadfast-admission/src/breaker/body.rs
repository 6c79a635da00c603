use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use steadfast_core::BoxError;

use super::circuit::Outcome;
use super::judge::{self, Stream};
use super::ticket::Ticket;

pin_project! {
    /// The body of an answer that passed a breaker: the peer's own, frame by frame.
    ///
    /// Its end, its trailers or its error say how the call went. Dropped before, it counts as a
    /// success, since its reader has seen enough; of gRPC, whose status comes last, as nothing.
    /// A peer that falls silent in the middle is an error of the body only where an idle limit
    /// stands below the breaker.
    #[derive(Debug)]
    pub struct BreakerBody<R> {
        #[pin]
        body: R,
        watch: Watch,
    }
}

/// In a type of its own, so that dropping the body can look at it.
#[derive(Debug)]
struct Watch {
    ticket: Ticket,
    stream: Stream,
}

impl<R> BreakerBody<R> {
    /// Of a call that has shown what it had to show.
    pub(super) const fn free(body: R) -> Self {
        Self::watched(body, Ticket::free(), Stream::Grpc)
    }

    #[inline]
    pub(super) const fn watched(body: R, ticket: Ticket, stream: Stream) -> Self {
        Self {
            body,
            watch: Watch { ticket, stream },
        }
    }
}

impl<R> Body for BreakerBody<R>
where
    R: Body<Error: Into<BoxError>>,
{
    type Data = R::Data;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<R::Data>, BoxError>>> {
        let mut this = self.project();
        let frame = ready!(this.body.as_mut().poll_frame(cx));
        let frame = frame.map(|frame| frame.map_err(Into::into));
        match &frame {
            None => this.watch.ended(),
            Some(Err(error)) => this.watch.failed(error),
            Some(Ok(frame)) => match frame.trailers_ref() {
                Some(trailers) => this.watch.trailers(trailers),
                // A reader that asks for nothing more after the last frame has read it all.
                None if this.body.is_end_stream() => this.watch.ended(),
                None => {}
            },
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Watch {
    fn ended(&mut self) {
        if let Some(config) = self.ticket.config() {
            let outcome = match self.stream {
                Stream::Http => Outcome::Success,
                Stream::Grpc => judge::trailers(config, None),
            };
            self.ticket.settle(outcome);
        }
    }

    fn trailers(&mut self, trailers: &http::HeaderMap) {
        if let Some(config) = self.ticket.config() {
            let outcome = match self.stream {
                Stream::Http => Outcome::Success,
                Stream::Grpc => judge::trailers(config, Some(trailers)),
            };
            self.ticket.settle(outcome);
        }
    }

    fn failed(&mut self, error: &BoxError) {
        if let Some(config) = self.ticket.config() {
            let outcome = judge::error(config, &**error);
            self.ticket.settle(outcome);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if self.stream == Stream::Http {
            self.ticket.settle(Outcome::Success);
        }
    }
}
