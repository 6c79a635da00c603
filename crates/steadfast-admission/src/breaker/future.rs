use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::Response;
use http_body::Body;
use pin_project_lite::pin_project;
use steadfast_core::{BoxError, Rejected};

use super::BreakerBody;
use super::circuit::Outcome;
use super::judge::{self, Head, Judged};
use super::ticket::Ticket;

pin_project! {
    /// The future of a [`Breaker`](super::Breaker).
    ///
    /// Dropped before the answer's head it shows nothing about the peer, and a probe's place is
    /// free again.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct BreakerFuture<F> {
        #[pin]
        state: State<F>,
    }
}

pin_project! {
    #[project = StateProj]
    #[derive(Debug)]
    enum State<F> {
        Refused { rejected: Rejected },
        Calling { #[pin] call: F, ticket: Ticket },
    }
}

impl<F> BreakerFuture<F> {
    /// Takes the ticket.
    #[inline]
    pub(super) fn calling(call: F, ticket: &mut Ticket) -> Self {
        Self {
            state: State::Calling {
                call,
                ticket: std::mem::replace(ticket, Ticket::free()),
            },
        }
    }

    pub(super) const fn refused(rejected: Rejected) -> Self {
        Self {
            state: State::Refused { rejected },
        }
    }
}

impl<F, R, E> Future for BreakerFuture<F>
where
    F: Future<Output = Result<Response<R>, E>>,
    R: Body<Error: Into<BoxError>>,
    E: Into<BoxError>,
{
    type Output = Result<Response<BreakerBody<R>>, BoxError>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let (call, ticket) = match self.project().state.project() {
            StateProj::Refused { rejected } => return Poll::Ready(Err((*rejected).into())),
            StateProj::Calling { call, ticket } => (call, ticket),
        };
        let answer = match ready!(call.poll(cx)) {
            Ok(answer) => answer,
            Err(error) => {
                let error = error.into();
                if let Some(config) = ticket.config() {
                    let outcome = judge::error(config, &*error);
                    ticket.settle(outcome);
                }
                return Poll::Ready(Err(error));
            }
        };
        let Some(config) = ticket.config() else {
            return Poll::Ready(Ok(answer.map(BreakerBody::free)));
        };
        let head = Head {
            status: answer.status(),
            headers: answer.headers(),
            extensions: answer.extensions(),
        };
        match judge::answer(config, head) {
            Judged::Now(outcome) => ticket.settle(outcome),
            // Nothing follows: the end is here.
            Judged::AtEnd(judge::Stream::Http) if answer.body().is_end_stream() => {
                ticket.settle(Outcome::Success);
            }
            Judged::AtEnd(stream) => {
                let ticket = std::mem::replace(ticket, Ticket::free());
                return Poll::Ready(Ok(
                    answer.map(|body| BreakerBody::watched(body, ticket, stream))
                ));
            }
        }
        Poll::Ready(Ok(answer.map(BreakerBody::free)))
    }
}
