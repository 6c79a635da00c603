use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use pin_project_lite::pin_project;
use steadfast_core::{BoxError, Cut, Elapsed, Failure, Outcome, Reason, Report};
use tokio::time::{Instant, Sleep, sleep_until};

use super::share::Share;
use crate::refusal::refused;

pin_project! {
    /// One attempt under its limit: the future of [`AttemptTimeout`](crate::AttemptTimeout).
    ///
    /// The inner future is polled first, so an answer that is there when the time ends wins. No
    /// timer exists before the inner future was pending once. Dropping it drops the attempt.
    ///
    /// # Panics
    ///
    /// When it is polled again after its end, and, where there is a limit and the inner future is
    /// pending, outside of a tokio runtime with time enabled.
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
    /// The attempt that `begin` starts; nothing is started where no time is left.
    pub(crate) fn new(share: Share, started: Option<Instant>, begin: impl FnOnce() -> F) -> Self {
        let state = match share {
            Share::Nothing => State::Refused,
            Share::Unlimited => State::Free { attempt: begin() },
            Share::Of(time, cut) => State::Limited {
                attempt: begin(),
                timer: None,
                started,
                time,
                cut,
            },
        };
        Self { state }
    }
}

impl<F, T, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<T, E>>,
    E: Into<BoxError>,
{
    type Output = Result<T, BoxError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.project().state;
        let answer = match state.as_mut().project() {
            StateProj::Free { attempt } => ready!(attempt.poll(cx)).map_err(Into::into),
            StateProj::Limited {
                attempt,
                mut timer,
                started,
                time,
                cut,
            } => {
                if let Poll::Ready(answer) = attempt.poll(cx) {
                    answer.map_err(Into::into)
                } else {
                    let started = *started.get_or_insert_with(Instant::now);
                    if timer.is_none() {
                        timer.set(Some(sleep_until(started + *time)));
                    }
                    if let Some(timer) = timer.as_pin_mut() {
                        ready!(timer.poll(cx));
                    }
                    Err(elapsed(started.elapsed(), Elapsed::new(*time, *cut)))
                }
            }
            StateProj::Refused => Err(refused()),
            StateProj::Ended => panic!("polled after the attempt had ended"),
        };
        // What the attempt holds goes now, not when the caller drops this future.
        state.set(State::Ended);
        Poll::Ready(answer)
    }
}

#[cold]
fn elapsed(after: Duration, cause: Elapsed) -> BoxError {
    let report = Report::new(1, after, Some(Reason::Deadline), Outcome::Unknown);
    Failure::new(report, cause).into()
}
