use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::{Request, Response, request};
use http_body::Body;
use pin_project_lite::pin_project;
use steadfast_core::budget::Permit;
use steadfast_core::order::enter;
use steadfast_core::{BoxError, LayerKind, own};
use tokio::time::Sleep;
use tower_service::Service;

use crate::call::{Call, Head, Opened};
use crate::drain::Drain;
use crate::hold::Hold;
use crate::last::{Handed, Last};
use crate::replay::Replay;
use crate::service::Shared;
use crate::template::{HeadView, Template};
use crate::{ReplayBody, ResponseBody};

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
        replay: Option<Replay<B>>,
        last: Option<Last>,
        call: Call<Shared<S>>,
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

/// Changes of state in one poll, one to three an attempt, before the task yields.
pub(crate) const MAX_TURNS: usize = 96;

/// What the next attempt needs; dropped unsent, the permit gives its cost back.
struct NextAttempt<B> {
    permit: Permit,
    counted: bool,
    request: Request<ReplayBody<B>>,
}

/// What a poll of one state comes to: the end of the call, or another state.
type Turn<R> = Option<Handed<R>>;

impl<S, B, R> ResponseFuture<S, S::Future, B, R>
where
    S: Service<Request<ReplayBody<B>>, Response = Response<R>, Error: Into<BoxError>> + Clone,
    B: Body<Error: Into<BoxError>> + Unpin,
    R: Body<Error: Into<BoxError>>,
{
    /// Sends the first attempt through `readied`, unless the call's deadline has passed.
    #[inline]
    pub(crate) fn begin(readied: &mut S, shared: &Shared<S>, request: Request<B>) -> Self {
        let config = shared.as_ref();
        let (mut head, body) = request.into_parts();
        let mut opening = Opened::begin(config, &head);
        opening.pass_through(config, HeadView::from(&head));
        if opening.is_expired(config) {
            return Self::expired(shared, opening, &head);
        }
        let template = match opening.needs_head(config) {
            true => Some(Template::of(&head)),
            false => None,
        };
        let (body, replay) = match opening.may_resend(config) {
            true => {
                let (body, replay) = ReplayBody::new(body, config.replay_limit);
                (body, Some(replay))
            }
            false => (ReplayBody::once(body).0, None),
        };
        let owns = opening.may_repeat() && replay.as_ref().is_some_and(Replay::is_replayable);
        opening.mark(config, &mut head, owns);
        let owned = owns.then(own);
        let entered = enter(LayerKind::Retry);
        let attempt = readied.call(Request::from_parts(head, body));
        entered.tell(config.observer.as_deref(), &config.misordered);
        drop(owned);
        let shared = shared.clone();
        // Nothing is called while this is put together, so that it is made where it stays.
        Self {
            state: State::Calling { attempt },
            timer: None,
            replay,
            last: None,
            call: Call::sent(shared, opening, template, owns),
        }
    }

    #[cold]
    fn expired(shared: &Shared<S>, opening: Opened, head: &request::Parts) -> Self {
        Self {
            state: State::Expired,
            timer: None,
            replay: None,
            last: None,
            call: Call::unsent(shared.clone(), opening, Some(Template::of(head))),
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

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.as_mut().project();
        let StateProj::Calling { attempt } = this.state.as_mut().project() else {
            return self.poll_on(None, cx);
        };
        let owned = this.call.owns().then(own);
        let polled = attempt.poll(cx);
        drop(owned);
        match polled {
            Poll::Ready(Ok(answer)) if this.call.succeeds_at_once(Head::from(&answer)) => {
                // Committed: an upload that goes on keeps nothing more.
                *this.replay = None;
                Poll::Ready(Ok(answer.map(ResponseBody::live)))
            }
            polled => {
                this.call.attempts().on_polled(polled.is_ready());
                self.poll_on(Some(polled), cx)
            }
        }
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
