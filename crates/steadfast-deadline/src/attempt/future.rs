use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use pin_project_lite::pin_project;
use steadfast_core::{BoxError, Cut, Elapsed, Failure, Outcome, Reason, Report};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::refusal::refused;

pin_project! {
    /// One attempt under its limit: the future of [`AttemptTimeout`](crate::AttemptTimeout).
    ///
    /// The inner future is polled first, so an answer that is there when the time ends wins. No
    /// timer exists before the inner future was pending once. Dropping it drops the attempt.
    ///
    /// # Panics
    ///
    /// When it is polled again after its end, which is up to the inner future where that had
    /// answered; and, where there is a limit and the inner future is pending, outside of a tokio
    /// runtime with time enabled.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture<F> {
        #[pin]
        state: State<F>,
    }
}

pin_project! {
    #[project = StateProj]
    #[derive(Debug)]
    enum State<F> {
        Free { #[pin] attempt: F },
        Limited {
            #[pin] attempt: F,
            #[pin] timer: Option<Sleep>,
            // Read at the call where a deadline asked for it, else when the timer is made.
            started: Option<Instant>,
            time: Duration,
            cut: Cut,
        },
        Refused,
        Ended,
    }
}

impl<F> ResponseFuture<F> {
    #[inline]
    pub(super) const fn free(attempt: F) -> Self {
        Self {
            state: State::Free { attempt },
        }
    }

    #[inline]
    pub(super) const fn limited(
        attempt: F,
        started: Option<Instant>,
        time: Duration,
        cut: Cut,
    ) -> Self {
        let state = State::Limited {
            attempt,
            timer: None,
            started,
            time,
            cut,
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

impl<F, T, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<T, E>>,
    E: Into<BoxError>,
{
    type Output = Result<T, BoxError>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.project().state;
        let error = match state.as_mut().project() {
            StateProj::Free { attempt } => {
                return attempt.poll(cx).map(|answer| answer.map_err(Into::into));
            }
            StateProj::Limited {
                attempt,
                mut timer,
                started,
                time,
                cut,
            } => {
                if let Poll::Ready(answer) = attempt.poll(cx) {
                    return Poll::Ready(answer.map_err(Into::into));
                }
                let started = *started.get_or_insert_with(Instant::now);
                if timer.is_none() {
                    timer.set(Some(sleep_until(started + *time)));
                }
                if let Some(timer) = timer.as_pin_mut() {
                    ready!(timer.poll(cx));
                }
                elapsed(started.elapsed(), Elapsed::new(*time, *cut))
            }
            StateProj::Refused => refused(),
            StateProj::Ended => panic!("polled after the attempt had ended"),
        };
        // What the attempt holds goes now, not when the caller drops this future.
        state.set(State::Ended);
        Poll::Ready(Err(error))
    }
}

#[cold]
fn elapsed(after: Duration, cause: Elapsed) -> BoxError {
    let report = Report::new(1, after, Some(Reason::Deadline), Outcome::Unknown);
    Failure::new(report, cause).into()
}
