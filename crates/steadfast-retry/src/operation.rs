use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use steadfast_core::budget::Permit;
use steadfast_core::{Attempt, BoxError, Deadline, Failure, Hint, Safety, Verdict, is_owned, own};
use tokio::time::{Sleep, sleep};

use crate::RetryConfig;
use crate::attempts::{Attempts, Opening};
use crate::future::{MAX_TURNS, poll_deadline};
use crate::upstream::Ownership;

mod ending;

use ending::{Course, finish};

/// Runs the policy of a retry layer around any async closure: a database transaction, a message
/// that is put on a channel, a call of a library that is no [`tower_service::Service`].
///
/// - `safety` says what a repeat of it may do. Nothing can be read off a closure, so it is asked.
/// - `judge` says what a result means; see [`Judgement`].
/// - `attempt` is called for each attempt with its number.
///
/// The future answers with what the last attempt came to: its value, also where that was judged a
/// failure, or a [`Failure`] with the report and the last error. A deadline of the request being
/// served holds here too, and so do the config's total limit and budget. Time runs from the making
/// of the future.
///
/// # Cancellation
///
/// Dropping the future drops the attempt on its way; no other follows, and an unspent permit
/// returns to its budget.
///
/// ```
/// use std::io;
/// use steadfast_core::{Delivery, Safety, Verdict};
/// use steadfast_retry::{RetryConfig, operation};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), steadfast_core::Failure> {
/// let judge = |result: &io::Result<u32>| match result {
///     Ok(_) => Verdict::Success,
///     Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
///         Verdict::Transient(Delivery::Unsent)
///     }
///     Err(_) => Verdict::Permanent(Delivery::Unknown),
/// };
/// let value = operation(RetryConfig::default(), Safety::Unprotected, judge, async |attempt| {
///     match attempt.number {
///         1 => Err(io::Error::from(io::ErrorKind::WouldBlock)),
///         number => Ok(number),
///     }
/// })
/// .await?;
/// assert_eq!(value, 2);
/// # Ok(())
/// # }
/// ```
pub fn operation<A, F, T, E, J, V>(
    config: impl Into<Arc<RetryConfig>>,
    safety: Safety,
    judge: J,
    attempt: A,
) -> Operation<A, J, F, T, E>
where
    A: FnMut(Attempt) -> F,
    F: Future<Output = Result<T, E>>,
    J: FnMut(&Result<T, E>) -> V,
    V: Into<Judgement>,
    E: Into<BoxError>,
{
    let config = config.into();
    // Nothing is left to others: what is called in there is no request that could say so.
    let ownership = Ownership::of(&config, is_owned());
    let mut opening = Opening::new(&config, ownership, None, Deadline::NONE, None);
    opening.start();
    Operation {
        state: State::Ready { next: None },
        timer: None,
        course: Course::new(Attempts::new(config, opening), safety),
        last: None,
        judge,
        attempt,
    }
}

/// What the result of an attempt means, and when to try again; a [`Verdict`] alone says nothing
/// of the latter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// What it means.
    pub verdict: Verdict,
    /// When to try again, where the result says so.
    pub hint: Hint,
}

impl From<Verdict> for Judgement {
    fn from(verdict: Verdict) -> Self {
        Self {
            verdict,
            hint: Hint::None,
        }
    }
}

pin_project! {
    /// The future of an [`operation`].
    #[must_use = "futures do nothing unless polled"]
    pub struct Operation<A, J, F, T, E> {
        #[pin]
        state: State<F>,
        #[pin]
        timer: Option<Sleep>,
        course: Course,
        last: Option<Result<T, E>>,
        judge: J,
        attempt: A,
    }
}

pin_project! {
    #[project = StateProj]
    enum State<F> {
        // The next attempt may go out; `None` before the first.
        Ready { next: Option<(Permit, bool)> },
        Calling { #[pin] attempt: F },
        Waiting { next: Option<(Permit, bool)> },
    }
}

impl<A, J, F, T, E> Operation<A, J, F, T, E> {
    /// Names the operation for those who observe it.
    pub fn named(mut self, name: impl Into<Arc<str>>) -> Self {
        self.course.name = Some(name.into());
        self
    }
}

impl<A, J, F, T, E, V> Future for Operation<A, J, F, T, E>
where
    A: FnMut(Attempt) -> F,
    F: Future<Output = Result<T, E>>,
    J: FnMut(&Result<T, E>) -> V,
    V: Into<Judgement>,
    E: Into<BoxError>,
{
    type Output = Result<T, Failure>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        // As many as a call's future makes before it lets others run.
        for _ in 0..MAX_TURNS {
            let next = match this.state.as_mut().project() {
                StateProj::Ready { next } => {
                    if this.course.attempts.is_expired() {
                        let end = this.course.out_of_time(false);
                        return Poll::Ready(finish(end, this.last.take()));
                    }
                    match next.take() {
                        Some((permit, counted)) => this.course.attempts.on_sent(counted, permit),
                        None => this.course.attempts.on_first_sent(),
                    }
                    let (number, max) = (this.course.attempts.made(), this.course.attempts.max());
                    this.timer.set(None);
                    let owned = this.course.may_repeat().then(own);
                    let attempt = (this.attempt)(Attempt { number, max });
                    drop(owned);
                    State::Calling { attempt }
                }
                StateProj::Calling { attempt } => {
                    let owned = this.course.may_repeat().then(own);
                    let polled = attempt.poll(cx);
                    drop(owned);
                    let Poll::Ready(result) = polled else {
                        ready!(poll_deadline(
                            this.timer,
                            this.course.attempts.deadline(),
                            cx
                        ));
                        let end = this.course.out_of_time(true);
                        return Poll::Ready(finish::<T, E>(end, None));
                    };
                    let judgement = (this.judge)(&result).into();
                    match this.course.on_ending(judgement) {
                        Ok(next) => {
                            *this.last = Some(result);
                            let wait = next.wait.min(Deadline::NO_LIMIT);
                            this.timer.set((!wait.is_zero()).then(|| sleep(wait)));
                            let permit = next.permit.unwrap_or(Permit::free());
                            State::Waiting {
                                next: Some((permit, next.counted)),
                            }
                        }
                        Err(end) => return Poll::Ready(finish(end, Some(result))),
                    }
                }
                StateProj::Waiting { next } => {
                    if let Some(timer) = this.timer.as_mut().as_pin_mut() {
                        ready!(timer.poll(cx));
                    }
                    State::Ready { next: next.take() }
                }
            };
            this.state.set(next);
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<A, J, F, T, E> fmt::Debug for Operation<A, J, F, T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operation")
            .field("name", &self.course.name)
            .finish_non_exhaustive()
    }
}
