use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use http::{Request, Response};
use http_body::Body;
use pin_project_lite::pin_project;
use steadfast_core::budget::Permit;
use steadfast_core::decide::BodyState;
use steadfast_core::{AttemptResult, BoxError, Deadline};
use tokio::time::{Instant, Sleep, sleep, sleep_until};
use tower_service::Service;

use crate::call::{Call, Step};
use crate::drain::Drain;
use crate::last::{Last, hand_on, not_ready};
use crate::replay::Replay;
use crate::{ReplayBody, ResponseBody, RetryConfig};

pin_project! {
    /// The future of a call: attempts and the waits between them.
    ///
    /// Dropped at any point it ends everything at once: no later attempt, the timer freed, the
    /// answer and the request body dropped, an unspent budget permit given back.
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture<S, F, B, R> {
        #[pin]
        state: State<S, F, B, R>,
        // One timer for the waits and for the deadline, since only one of them runs at a time.
        #[pin]
        timer: Option<Sleep>,
        spare: Arc<Mutex<S>>,
        replay: Option<Replay<B>>,
        last: Option<Last>,
        call: Call,
    }
}

pin_project! {
    #[project = StateProj]
    enum State<S, F, B, R> {
        // The deadline had passed before anything was sent.
        Expired,
        // An attempt is on its way.
        Calling { #[pin] attempt: F },
        // Between two attempts; the failed answer is read meanwhile.
        Waiting { #[pin] drain: Option<Drain<R>>, next: Option<Box<NextAttempt<B>>> },
        // A fresh clone of the inner service gets ready for the next attempt.
        Readying { service: S, next: Option<Box<NextAttempt<B>>> },
    }
}

/// Changes of state in one poll, three an attempt, before the task yields.
const MAX_TURNS: usize = 96;

/// What the next attempt needs; dropped unsent, the permit gives its cost back.
struct NextAttempt<B> {
    permit: Permit,
    counted: bool,
    request: Request<ReplayBody<B>>,
}

/// What a poll of one state comes to: the end of the call, or another state.
type Turn<R> = Option<Result<Response<ResponseBody<R>>, BoxError>>;

impl<S, B, R> ResponseFuture<S, S::Future, B, R>
where
    S: Service<Request<ReplayBody<B>>, Response = Response<R>, Error: Into<BoxError>> + Clone,
    B: Body<Error: Into<BoxError>> + Unpin,
    R: Body,
{
    /// Sends the first attempt through `readied`, unless the call's deadline has passed.
    pub(crate) fn begin(
        readied: &mut S,
        spare: &Arc<Mutex<S>>,
        config: &Arc<RetryConfig>,
        request: Request<B>,
    ) -> Self {
        let (mut head, body) = request.into_parts();
        let mut call = Call::begin(config, &mut head);
        let (body, replay) = if call.may_repeat() {
            let (body, replay) = ReplayBody::new(body, call.config().replay_limit);
            (body, Some(replay))
        } else {
            (ReplayBody::once(body).0, None)
        };
        let state = if call.attempts().starts_expired() {
            State::Expired
        } else {
            call.attempts().on_first_sent();
            State::Calling {
                attempt: readied.call(Request::from_parts(head, body)),
            }
        };
        let spare = spare.clone();
        Self {
            state,
            timer: None,
            spare,
            replay,
            last: None,
            call,
        }
    }

    fn poll_attempt(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Turn<R>> {
        let mut this = self.project();
        let StateProj::Calling { attempt } = this.state.as_mut().project() else {
            return Poll::Ready(None);
        };
        let Poll::Ready(result) = attempt.poll(cx) else {
            ready!(poll_deadline(this.timer, this.call.deadline(), cx));
            let end = this.call.out_of_time(true);
            return Poll::Ready(Some(hand_on(end, None, this.last.take())));
        };
        let replay = this.replay.as_ref();
        let body = || replay.map_or(BodyState::Replayable, Replay::state);
        let (step, result) = match result.map(Response::into_parts) {
            Ok((head, answer)) => {
                let brought = this.call.read_answer(&head);
                let status = AttemptResult::Status(head.status);
                (
                    this.call.on_ending(brought, status, body),
                    Ok((head, answer)),
                )
            }
            Err(error) => {
                let error = error.into();
                let brought = this.call.read_error(&*error);
                let seen = AttemptResult::Error(&*error);
                (this.call.on_ending(brought, seen, body), Err(error))
            }
        };
        let (next, unsent) = match step {
            Step::End(end) => {
                // Committed: an upload that goes on keeps nothing more.
                *this.replay = None;
                return Poll::Ready(Some(hand_on(end, Some(result), this.last.take())));
            }
            Step::Again { next, unsent } => (next, unsent),
        };
        let again = (replay.and_then(Replay::again)).zip(this.call.next_head(next.counted));
        let Some((body, head)) = again else {
            // The upload went on past its bound while this was decided.
            let end = this.call.no_body();
            return Poll::Ready(Some(hand_on(end, Some(result), this.last.take())));
        };
        let drain = match result {
            Ok((head, body)) => Some(Drain::new(head, body, this.call.config().answer_limits())),
            // An attempt that did not leave is not the peer's last word.
            Err(_) if unsent && this.last.is_some() => None,
            Err(error) => {
                *this.last = Some(Last::Error(error));
                None
            }
        };
        // A wait of zero takes no timer, and one for longer than anybody lives would overflow.
        let wait = next.wait.min(Deadline::NO_LIMIT);
        this.timer.set((!wait.is_zero()).then(|| sleep(wait)));
        let request = Request::from_parts(head, body);
        let next = Box::new(NextAttempt {
            permit: next.permit.unwrap_or(Permit::free()),
            counted: next.counted,
            request,
        });
        this.state.set(State::Waiting {
            drain,
            next: Some(next),
        });
        Poll::Ready(None)
    }

    fn poll_wait(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Turn<R>> {
        let mut this = self.project();
        let StateProj::Waiting { mut drain, next } = this.state.as_mut().project() else {
            return Poll::Ready(None);
        };
        if let Some(mut reading) = drain.as_mut().as_pin_mut() {
            if reading.as_mut().poll_drain(cx).is_ready() {
                // Nothing more to read: the connection is free before the wait ends.
                *this.last = reading.take().map(Last::Answer);
                drain.set(None);
            }
        }
        if let Some(timer) = this.timer.as_mut().as_pin_mut() {
            ready!(timer.poll(cx));
        }
        if let Some(cut_short) = drain.as_pin_mut() {
            *this.last = cut_short.take().map(Last::Answer);
        }
        let next = next.take();
        this.timer.set(None);
        let service = this
            .spare
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        this.state.set(State::Readying { service, next });
        Poll::Ready(None)
    }

    fn poll_readiness(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Turn<R>> {
        let mut this = self.project();
        let StateProj::Readying { service, next } = this.state.as_mut().project() else {
            return Poll::Ready(None);
        };
        match service.poll_ready(cx) {
            Poll::Pending => ready!(poll_deadline(this.timer, this.call.deadline(), cx)),
            Poll::Ready(Err(error)) => {
                let error = error.into();
                let end = this.call.not_ready(&*error);
                return Poll::Ready(Some(not_ready(end, error, this.last.take())));
            }
            Poll::Ready(Ok(())) if this.call.attempts().is_expired() => {}
            Poll::Ready(Ok(())) => {
                if let Some(next) = next.take() {
                    let NextAttempt {
                        permit,
                        counted,
                        request,
                    } = *next;
                    this.call.attempts().on_sent(counted, permit);
                    let attempt = service.call(request);
                    this.timer.set(None);
                    this.state.set(State::Calling { attempt });
                    return Poll::Ready(None);
                }
            }
        }
        let end = this.call.out_of_time(false);
        Poll::Ready(Some(hand_on(end, None, this.last.take())))
    }
}

impl<S, B, R> Future for ResponseFuture<S, S::Future, B, R>
where
    S: Service<Request<ReplayBody<B>>, Response = Response<R>, Error: Into<BoxError>> + Clone,
    B: Body<Error: Into<BoxError>> + Unpin,
    R: Body,
{
    type Output = Result<Response<ResponseBody<R>>, BoxError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        for _ in 0..MAX_TURNS {
            let turn = match &self.state {
                State::Calling { .. } => ready!(self.as_mut().poll_attempt(cx)),
                State::Waiting { .. } => ready!(self.as_mut().poll_wait(cx)),
                State::Readying { .. } => ready!(self.as_mut().poll_readiness(cx)),
                State::Expired => {
                    let end = self.as_mut().project().call.out_of_time(false);
                    Some(hand_on(end, None, None))
                }
            };
            if let Some(result) = turn {
                return Poll::Ready(result);
            }
        }
        // Many attempts that fail at once, without a wait: let others run.
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Ready when the deadline has come; registers a timer for it if there is none yet.
fn poll_deadline(
    mut timer: Pin<&mut Option<Sleep>>,
    deadline: Deadline,
    cx: &mut Context<'_>,
) -> Poll<()> {
    let Some(instant) = deadline.instant() else {
        return Poll::Pending;
    };
    if timer.is_none() {
        timer.set(Some(sleep_until(Instant::from_std(instant))));
    }
    match timer.as_pin_mut() {
        Some(timer) => timer.poll(cx),
        None => Poll::Pending,
    }
}

impl<S, F, B, R> fmt::Debug for ResponseFuture<S, F, B, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            State::Expired => "Expired",
            State::Calling { .. } => "Calling",
            State::Waiting { .. } => "Waiting",
            State::Readying { .. } => "Readying",
        };
        f.debug_struct("ResponseFuture")
            .field("state", &format_args!("{state}"))
            .finish_non_exhaustive()
    }
}
