use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::{Request, Response};
use http_body::Body;
use pin_project_lite::pin_project;
use steadfast_core::{BoxError, Reason, Rejected};
use tower_service::Service;

use super::BulkheadBody;
use super::gate::Permit;
use super::waiting::Waiting;

pin_project! {
    /// The future of a call through a [`Bulkhead`](super::Bulkhead).
    ///
    /// Dropped at any point it gives back what it holds, exactly once: its place, its place in
    /// the queue, or the place that it was given and has not seen yet, which goes to the next.
    ///
    /// # Panics
    ///
    /// When it is polled after its end; and when it has to wait, and has an end for that, outside
    /// of a tokio runtime with time enabled.
    #[must_use = "futures do nothing unless polled"]
    pub struct BulkheadFuture<S, F, B> {
        #[pin]
        state: State<S, F, B>,
    }
}

pin_project! {
    #[project = StateProj]
    enum State<S, F, B> {
        // The inner call comes before the permit: it is dropped first, and is no more when the
        // next one may begin.
        Calling { #[pin] call: F, permit: Option<Permit> },
        // In a box, because every call moves this enum and few get here.
        Waiting { waiting: Pin<Box<Waiting<S, B>>> },
        Refused,
        Ended,
    }
}

impl<S, F, B> BulkheadFuture<S, F, B> {
    /// A call on its way, in shadow mode perhaps without a permit.
    #[inline]
    pub(super) const fn calling(call: F, permit: &mut Option<Permit>) -> Self {
        Self {
            state: State::Calling {
                call,
                permit: permit.take(),
            },
        }
    }

    pub(super) fn waiting(waiting: Waiting<S, B>) -> Self {
        let waiting = Box::pin(waiting);
        let state = State::Waiting { waiting };
        Self { state }
    }

    pub(super) const fn refused() -> Self {
        let state = State::Refused;
        Self { state }
    }
}

impl<S, B, R> Future for BulkheadFuture<S, S::Future, B>
where
    S: Service<Request<B>, Response = Response<R>, Error: Into<BoxError>>,
    R: Body,
{
    type Output = Result<Response<BulkheadBody<R>>, BoxError>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.project().state;
        if let StateProj::Waiting { waiting } = state.as_mut().project() {
            match ready!(waiting.as_mut().poll_call(cx)) {
                Ok((call, permit)) => state.set(State::Calling {
                    call,
                    permit: Some(permit),
                }),
                Err(error) => {
                    state.set(State::Ended);
                    return Poll::Ready(Err(error));
                }
            }
        }
        let (answer, permit) = match state.as_mut().project() {
            StateProj::Calling { call, permit } => (ready!(call.poll(cx)), permit.take()),
            StateProj::Refused => {
                state.set(State::Ended);
                return Poll::Ready(Err(Rejected::new(Reason::BulkheadFull).into()));
            }
            StateProj::Waiting { .. } | StateProj::Ended => panic!("polled after its end"),
        };
        // Whatever the inner call holds goes before the place does.
        state.set(State::Ended);
        Poll::Ready(match answer {
            Ok(answer) => Ok(answer.map(|body| BulkheadBody::new(body, permit))),
            Err(error) => {
                drop(permit);
                Err(error.into())
            }
        })
    }
}

impl<S, F, B> fmt::Debug for BulkheadFuture<S, F, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            State::Calling { .. } => "Calling",
            State::Waiting { .. } => "Waiting",
            State::Refused => "Refused",
            State::Ended => "Ended",
        };
        f.debug_struct("BulkheadFuture")
            .field("state", &format_args!("{state}"))
            .finish()
    }
}
