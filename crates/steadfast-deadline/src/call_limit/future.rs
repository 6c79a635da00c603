use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use pin_project_lite::pin_project;
use steadfast_core::{BoxError, Cut, Elapsed, Failure, Outcome, Reason, Report};
use tokio::time::{Sleep, sleep_until};

use crate::refusal::refused;

pin_project! {
    /// One call under its limit: the future of [`CallLimit`](crate::CallLimit).
    ///
    /// The inner future is polled first, so an answer that is there when the time ends wins, and
    /// so does the report of a retry layer that ended the call by the same deadline. No timer
    /// exists before the inner future was pending once. Dropping it drops the call.
    ///
    /// # Panics
    ///
    /// When it is polled again after its end, which is up to the inner future where that had
    /// answered; and, where there is a limit and the inner future is pending, outside of a tokio
    /// runtime with time enabled.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct CallFuture<F> {
        #[pin]
        state: State<F>,
    }
}

pin_project! {
    #[project = StateProj]
    #[derive(Debug)]
    enum State<F> {
        Free { #[pin] call: F },
        Limited {
            #[pin] call: F,
            #[pin] timer: Option<Sleep>,
            end: Instant,
            time: Duration,
        },
        Refused,
        Ended,
    }
}

impl<F> CallFuture<F> {
    #[inline]
    pub(super) const fn free(call: F) -> Self {
        Self {
            state: State::Free { call },
        }
    }

    #[inline]
    pub(super) const fn limited(call: F, end: Instant, time: Duration) -> Self {
        let state = State::Limited {
            call,
            timer: None,
            end,
            time,
        };
        Self { state }
    }

    #[inline]
    pub(super) const fn refused() -> Self {
        Self {
            state: State::Refused,
        }
    }
}

impl<F, T, E> Future for CallFuture<F>
where
    F: Future<Output = Result<T, E>>,
    E: Into<BoxError>,
{
    type Output = Result<T, BoxError>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.project().state;
        let error = match state.as_mut().project() {
            StateProj::Free { call } => {
                return call.poll(cx).map(|answer| answer.map_err(Into::into));
            }
            StateProj::Limited {
                call,
                mut timer,
                end,
                time,
            } => {
                if let Poll::Ready(answer) = call.poll(cx) {
                    return Poll::Ready(answer.map_err(Into::into));
                }
                if timer.is_none() {
                    timer.set(Some(sleep_until((*end).into())));
                }
                if let Some(timer) = timer.as_pin_mut() {
                    ready!(timer.poll(cx));
                }
                elapsed(*time)
            }
            StateProj::Refused => refused(),
            StateProj::Ended => panic!("polled after the call had ended"),
        };
        // What the call holds goes now, not when the caller drops this future.
        state.set(State::Ended);
        Poll::Ready(Err(error))
    }
}

/// One attempt at least; how many there were is known to the layer that repeats them.
#[cold]
fn elapsed(time: Duration) -> BoxError {
    let report = Report::new(1, time, Some(Reason::Deadline), Outcome::Unknown);
    Failure::new(report, Elapsed::new(time, Cut::Deadline)).into()
}
