use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::{Request, Response, response};
use http_body::Body;
use steadfast_core::budget::Permit;
use steadfast_core::decide::BodyState;
use steadfast_core::{AttemptResult, BoxError, Deadline, Verdict, own};
use tokio::time::sleep;
use tower_service::Service;

use super::wait::poll_deadline;
use super::{Later, LaterProj, MAX_TURNS, NextAttempt, ResponseFuture, State, StateProj, Turn};
use crate::attempts::Brought;
use crate::call::{Head, Step};
use crate::drain::Drain;
use crate::hold::{Held, Hold};
use crate::last::{Handed, Last, LastAnswer, hand_on, not_ready, reported};
use crate::replay::Replay;
use crate::response_body::Frames;
use crate::{ReplayBody, ResponseBody};

/// What an attempt ended with.
enum Ended<R> {
    Answer(response::Parts, R),
    Held(Hold<R>),
    Error(BoxError),
}

impl<S, B, R> ResponseFuture<S, S::Future, B, R>
where
    S: Service<Request<ReplayBody<B>>, Response = Response<R>, Error: Into<BoxError>> + Clone,
    B: Body<Error: Into<BoxError>> + Unpin,
    R: Body<Error: Into<BoxError>>,
{
    /// Goes on after an attempt was polled, or from any other state.
    pub(super) fn poll_on(
        mut self: Pin<&mut Self>,
        mut polled: Option<Poll<Result<Response<R>, S::Error>>>,
        cx: &mut Context<'_>,
    ) -> Poll<Handed<R>> {
        for _ in 0..MAX_TURNS {
            let turn = match &self.state {
                State::Calling { .. } => ready!(self.as_mut().poll_attempt(polled.take(), cx)),
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

    /// An attempt is on its way, and may have been polled already.
    fn poll_attempt(
        mut self: Pin<&mut Self>,
        polled: Option<Poll<Result<Response<R>, S::Error>>>,
        cx: &mut Context<'_>,
    ) -> Poll<Turn<R>> {
        let mut this = self.as_mut().project();
        let StateProj::Calling { attempt } = this.state.as_mut().project() else {
            return Poll::Ready(None);
        };
        let polled = polled.unwrap_or_else(|| {
            let _owned = this.call.owns().then(own);
            attempt.poll(cx)
        });
        let Poll::Ready(result) = polled else {
            return self.poll_out_of_time(cx);
        };
        let answer = match result {
            Ok(answer) => answer,
            Err(error) => {
                let error = error.into();
                let brought = this.call.read_error(&*error);
                return self.go_on(brought, Ended::Error(error), cx);
            }
        };
        let head = Head::from(&answer);
        if let Some(report) = this.call.succeeds(head) {
            // Committed: an upload that goes on keeps nothing more.
            *this.replay = None;
            let answer = reported(report, answer).map(ResponseBody::live);
            return Poll::Ready(Some(Ok(answer)));
        }
        let brought = this.call.read_answer(head);
        if brought.verdict.is_success() && !answer.body().is_end_stream() {
            let uploaded = || this.replay.as_ref().is_some_and(Replay::has_ended);
            if let Some(until) = this.call.holds(head, uploaded) {
                let (head, body) = answer.into_parts();
                let hold = Some(Hold::new(head, body, until));
                let later = Box::pin(Later::Holding { hold });
                this.state.set(State::Later { later });
                return Poll::Ready(None);
            }
        }
        let (head, body) = answer.into_parts();
        self.go_on(brought, Ended::Answer(head, body), cx)
    }

    /// An answer that looks well is read a little before it is handed on.
    pub(super) fn poll_hold(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Turn<R>> {
        let mut this = self.as_mut().project();
        let StateProj::Later { later } = this.state.as_mut().project() else {
            return Poll::Ready(None);
        };
        let LaterProj::Holding { hold } = later.as_mut().project() else {
            return Poll::Ready(None);
        };
        let Some(Poll::Ready(held)) = hold.as_mut().map(|hold| hold.poll_hold(cx)) else {
            return self.poll_out_of_time(cx);
        };
        let Some(hold) = hold.take() else {
            return Poll::Ready(None);
        };
        let success = Brought::new(Verdict::Success);
        let brought = match (held, hold.error()) {
            (Held::Broke, Some(error)) => this.call.read_error(&**error),
            (Held::Trailers(trailers), _) => this
                .call
                .read_status(hold.head().into(), &trailers)
                .unwrap_or(success),
            (Held::Well | Held::Broke, _) => success,
        };
        self.go_on(brought, Ended::Held(hold), cx)
    }

    fn poll_out_of_time(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Turn<R>> {
        let this = self.project();
        ready!(poll_deadline(this.timer, this.call.deadline(), cx));
        let end = this.call.out_of_time(true);
        Poll::Ready(Some(hand_on(end, None, this.last.take())))
    }

    /// An attempt has ended: the end of the call, or the wait before the next one.
    fn go_on(
        mut self: Pin<&mut Self>,
        brought: Brought,
        ended: Ended<R>,
        cx: &mut Context<'_>,
    ) -> Poll<Turn<R>> {
        let mut this = self.as_mut().project();
        let replay = this.replay.as_ref();
        let body = || replay.map_or(BodyState::Replayable, Replay::state);
        let step = match &ended {
            Ended::Answer(head, _) => {
                this.call
                    .on_ending(brought, AttemptResult::Status(head.status), body)
            }
            Ended::Held(hold) => {
                let status = AttemptResult::Status(hold.head().status);
                let result = hold
                    .error()
                    .map_or(status, |error| AttemptResult::Error(&**error));
                this.call.on_ending(brought, result, body)
            }
            Ended::Error(error) => {
                this.call
                    .on_ending(brought, AttemptResult::Error(&**error), body)
            }
        };
        let (next, unsent) = match step {
            Step::End(end) => {
                // Committed: an upload that goes on keeps nothing more.
                *this.replay = None;
                let handed = hand_on(end, Some(ended.into_result()), this.last.take());
                return Poll::Ready(Some(handed));
            }
            Step::Again { next, unsent } => (next, unsent),
        };
        let again = (replay.and_then(Replay::again)).zip(this.call.next_head(next.counted));
        let Some((body, head)) = again else {
            // The upload went on past its bound while this was decided.
            let end = this.call.no_body();
            let handed = hand_on(end, Some(ended.into_result()), this.last.take());
            return Poll::Ready(Some(handed));
        };
        let answered = matches!(ended, Ended::Answer(..));
        let (drain, last) = ended.into_last(this.call.config().answer_limits());
        // An attempt that did not leave is not the peer's last word, unless the peer answered it.
        let hides = unsent && this.last.is_some() && !answered;
        if last.is_some() && !hides {
            *this.last = last;
        }
        // A wait of zero takes no timer, and one for longer than anybody lives would overflow.
        let wait = next.wait.min(Deadline::NO_LIMIT);
        this.timer.set((!wait.is_zero()).then(|| sleep(wait)));
        let next = NextAttempt {
            permit: next.permit.unwrap_or(Permit::free()),
            counted: next.counted,
            request: Request::from_parts(head, body),
        };
        if wait.is_zero() && drain.is_none() {
            return self.send_at_once(next, cx);
        }
        let next = Some(next);
        match this.state.as_mut().project() {
            StateProj::Later { later } => later.set(Later::Waiting { drain, next }),
            _ => {
                let later = Box::pin(Later::Waiting { drain, next });
                this.state.set(State::Later { later });
            }
        }
        Poll::Ready(None)
    }

    /// Nothing is waited for: the next attempt goes out through a fresh clone that is ready, else
    /// when that is.
    fn send_at_once(
        self: Pin<&mut Self>,
        next: NextAttempt<B>,
        cx: &mut Context<'_>,
    ) -> Poll<Turn<R>> {
        let mut this = self.project();
        let mut service = this.call.shared().service();
        match service.poll_ready(cx) {
            // That it is in time was decided a moment ago.
            Poll::Ready(Ok(())) => {
                let attempt = next.send(this.call, &mut service);
                this.state.set(State::Calling { attempt });
            }
            Poll::Ready(Err(error)) => {
                let error = error.into();
                let end = this.call.not_ready(&*error);
                return Poll::Ready(Some(not_ready(end, error, this.last.take())));
            }
            Poll::Pending => {
                let next = Some(next);
                let later = Box::pin(Later::Readying { service, next });
                this.state.set(State::Later { later });
                ready!(poll_deadline(this.timer, this.call.deadline(), cx));
                let end = this.call.out_of_time(false);
                return Poll::Ready(Some(hand_on(end, None, this.last.take())));
            }
        }
        Poll::Ready(None)
    }
}

impl<R: Body<Error: Into<BoxError>>> Ended<R> {
    /// To hand on as it is.
    fn into_result(self) -> Result<(response::Parts, ResponseBody<R>), BoxError> {
        match self {
            Self::Answer(head, body) => Ok((head, ResponseBody::live(body))),
            Self::Held(hold) => Ok(hold.into_answer()),
            Self::Error(error) => Err(error),
        }
    }

    /// To keep while the call goes on: what is to be read yet, or what is there.
    fn into_last(self, limits: (usize, usize)) -> (Option<Drain<R>>, Option<Last>) {
        match self {
            // All of it is there.
            Self::Answer(head, body) if body.is_end_stream() => {
                let body = Some(Frames::new());
                let last = Last::Answer(Box::new(LastAnswer { head, body }));
                (None, Some(last))
            }
            Self::Answer(head, body) => (Some(Drain::new(head, body, limits)), None),
            Self::Error(error) => (None, Some(Last::Error(error))),
            Self::Held(hold) => {
                let (head, mut frames) = hold.into_parts();
                let last = match frames.pop_back() {
                    Some((_, Err(error))) => Last::Error(error),
                    frame => {
                        frames.extend(frame);
                        let body = Some(frames);
                        Last::Answer(Box::new(LastAnswer { head, body }))
                    }
                };
                (None, Some(last))
            }
        }
    }
}
