use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::Response;
use pin_project_lite::pin_project;
use steadfast_core::CallContext;
use tokio::time::{Instant, Sleep, sleep_until};

use super::body::ResponseBody;
use super::config::Mode;
use super::dialect::{Dialect, LastWords};
use super::watch::{Moment, Watch};

pin_project! {
    /// One request and its end: the future of [`InboundDeadline`](super::InboundDeadline).
    ///
    /// The handler is polled first, so that an answer which is there when the time ends wins; a
    /// handler that learns of the end from its own outbound call can still say so itself. No
    /// timer exists before the handler was pending once. Dropping it drops the handler.
    ///
    /// # Panics
    ///
    /// When it is polled again after its end, and, where there is a deadline and the handler is
    /// pending, outside of a tokio runtime with time enabled.
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture<F> {
        #[pin]
        state: State<F>,
    }
}

pin_project! {
    #[project = StateProj]
    enum State<F> {
        Free { #[pin] handler: F },
        Watched {
            #[pin] handler: F,
            context: CallContext,
            #[pin] timer: Option<Sleep>,
            watch: Option<Watch>,
            dialect: Dialect,
        },
        Refused { dialect: Dialect },
        Ended,
    }
}

impl<F> ResponseFuture<F> {
    /// Nothing is known about this request's end.
    pub(crate) const fn free(handler: F) -> Self {
        let state = State::Free { handler };
        Self { state }
    }

    pub(crate) const fn watched(
        handler: F,
        context: CallContext,
        watch: Option<Watch>,
        dialect: Dialect,
    ) -> Self {
        let timer = None;
        let state = State::Watched {
            handler,
            context,
            timer,
            watch,
            dialect,
        };
        Self { state }
    }

    /// The end had come before the request.
    pub(crate) const fn refused(dialect: Dialect) -> Self {
        let state = State::Refused { dialect };
        Self { state }
    }
}

impl<F, R, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<R>, E>>,
{
    type Output = Result<Response<ResponseBody<R>>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.project().state;
        let answer = match state.as_mut().project() {
            StateProj::Free { handler } => {
                ready!(handler.poll(cx)).map(|answer| answer.map(ResponseBody::inner))
            }
            StateProj::Watched {
                handler,
                context,
                mut timer,
                watch,
                dialect,
            } => match (context.run(|| handler.poll(cx)), watch) {
                (Poll::Ready(answer), Some(watch)) => {
                    met(watch);
                    answer.map(|answer| {
                        let last = LastWords::of(*dialect, answer.headers());
                        answer.map(|body| limited(body, watch, context, last))
                    })
                }
                (Poll::Ready(answer), None) => answer.map(|it| it.map(ResponseBody::inner)),
                (Poll::Pending, Some(watch)) if watch.mode == Mode::Enforce => {
                    let Some(end) = watch.deadline.instant() else {
                        return Poll::Pending;
                    };
                    if timer.is_none() {
                        timer.set(Some(sleep_until(Instant::from_std(end))));
                    }
                    if let Some(timer) = timer.as_pin_mut() {
                        ready!(timer.poll(cx));
                    }
                    watch.tell(Instant::now(), Moment::Expired);
                    Ok(dialect.exceeded())
                }
                (Poll::Pending, _) => return Poll::Pending,
            },
            StateProj::Refused { dialect } => Ok(dialect.expired()),
            StateProj::Ended => panic!("polled after the request had ended"),
        };
        // What the handler holds goes now, not when the caller drops this future.
        state.set(State::Ended);
        Poll::Ready(answer)
    }
}

/// The handler has answered, in time or, where that is only measured, late.
fn met(watch: &Watch) {
    if watch.observed.is_none() {
        return;
    }
    let now = Instant::now();
    let late = watch.deadline.is_expired(now.into_std()) && watch.mode == Mode::Measure;
    watch.tell(now, if late { Moment::Expired } else { Moment::Met });
}

/// The answer's body, which has the same end where that covers the stream.
fn limited<R>(
    body: R,
    watch: &Watch,
    context: &CallContext,
    last: Option<LastWords>,
) -> ResponseBody<R> {
    match (watch.mode, watch.deadline.instant(), last) {
        (Mode::Enforce, Some(end), Some(last)) => {
            ResponseBody::limited(body, Instant::from_std(end), context.clone(), last)
        }
        _ => ResponseBody::inner(body),
    }
}

impl<F> fmt::Debug for ResponseFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}
