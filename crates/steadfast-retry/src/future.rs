use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};

use http::{Request, Response};
use http_body::Body;
use pin_project_lite::pin_project;
use steadfast_core::budget::Permit;
use steadfast_core::{BoxError, own};
use tokio::time::Sleep;
use tower_service::Service;

use crate::call::Call;
use crate::drain::Drain;
use crate::hold::Hold;
use crate::last::{Last, hand_on};
use crate::replay::Replay;
use crate::{ReplayBody, ResponseBody, RetryConfig};

mod attempt;
mod wait;

pub(crate) use wait::poll_deadline;

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
        // Anything else: in a box, because every call moves this enum and few get here.
        Later { later: Pin<Box<Later<S, B, R>>> },
    }
}

pin_project! {
    #[project = LaterProj]
    enum Later<S, B, R> {
        // An answer that looks well is read a little before it is handed on.
        Holding { hold: Option<Hold<R>> },
        // Between two attempts; the failed answer is read meanwhile.
        Waiting { #[pin] drain: Option<Drain<R>>, next: Option<NextAttempt<B>> },
        // A fresh clone of the inner service gets ready for the next attempt.
        Readying { service: S, next: Option<NextAttempt<B>> },
    }
}

/// Changes of state in one poll, three an attempt, before the task yields.
pub(crate) const MAX_TURNS: usize = 96;

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
    R: Body<Error: Into<BoxError>>,
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
        let (body, replay) = if call.may_resend() {
            let (body, replay) = ReplayBody::new(body, call.config().replay_limit);
            (body, Some(replay))
        } else {
            (ReplayBody::once(body).0, None)
        };
        let replayable = replay.as_ref().is_some_and(Replay::is_replayable);
        call.open(&mut head, replayable);
        let state = if call.attempts().starts_expired() {
            State::Expired
        } else {
            call.attempts().on_first_sent();
            let _owned = call.owns().then(own);
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
}

impl<S, B, R> Future for ResponseFuture<S, S::Future, B, R>
where
    S: Service<Request<ReplayBody<B>>, Response = Response<R>, Error: Into<BoxError>> + Clone,
    B: Body<Error: Into<BoxError>> + Unpin,
    R: Body<Error: Into<BoxError>>,
{
    type Output = Result<Response<ResponseBody<R>>, BoxError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        for _ in 0..MAX_TURNS {
            let turn = match &self.state {
                State::Calling { .. } => ready!(self.as_mut().poll_attempt(cx)),
                State::Later { later } => ready!(match **later {
                    Later::Holding { .. } => self.as_mut().poll_hold(cx),
                    Later::Waiting { .. } => self.as_mut().poll_wait(cx),
                    Later::Readying { .. } => self.as_mut().poll_readiness(cx),
                }),
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

impl<S, F, B, R> fmt::Debug for ResponseFuture<S, F, B, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match &self.state {
            State::Expired => "Expired",
            State::Calling { .. } => "Calling",
            State::Later { later } => match **later {
                Later::Holding { .. } => "Holding",
                Later::Waiting { .. } => "Waiting",
                Later::Readying { .. } => "Readying",
            },
        };
        f.debug_struct("ResponseFuture")
            .field("state", &format_args!("{state}"))
            .finish_non_exhaustive()
    }
}
