use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::{Request, Response};
use http_body::Body;
use steadfast_core::{BoxError, Deadline, own};
use tokio::time::{Instant, Sleep, sleep_until};
use tower_service::Service;

use super::{Later, LaterProj, NextAttempt, ResponseFuture, State, StateProj, Turn};
use crate::ReplayBody;
use crate::call::Call;
use crate::last::{Last, hand_on, not_ready};
use crate::service::Shared;

impl<S, B, R> ResponseFuture<S, S::Future, B, R>
where
    S: Service<Request<ReplayBody<B>>, Response = Response<R>, Error: Into<BoxError>> + Clone,
    B: Body<Error: Into<BoxError>> + Unpin,
    R: Body<Error: Into<BoxError>>,
{
    pub(super) fn poll_wait(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Turn<R>> {
        let mut this = self.project();
        let StateProj::Later { later } = this.state.as_mut().project() else {
            return Poll::Ready(None);
        };
        let LaterProj::Waiting { mut drain, next } = later.as_mut().project() else {
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
        let service = this.call.shared().service();
        later.set(Later::Readying { service, next });
        Poll::Ready(None)
    }

    pub(super) fn poll_readiness(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Turn<R>> {
        let mut this = self.project();
        let StateProj::Later { later } = this.state.as_mut().project() else {
            return Poll::Ready(None);
        };
        let LaterProj::Readying { service, next } = later.as_mut().project() else {
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
            Poll::Ready(Ok(())) if this.call.key_is_expired() => {
                let end = this.call.out_of_key();
                return Poll::Ready(Some(hand_on(end, None, this.last.take())));
            }
            Poll::Ready(Ok(())) => {
                if let Some(next) = next.take() {
                    let attempt = next.send(this.call, service);
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

impl<B> NextAttempt<B> {
    /// It goes out through a service that is ready.
    pub(super) fn send<S>(self, call: &mut Call<Shared<S>>, service: &mut S) -> S::Future
    where
        S: Service<Request<ReplayBody<B>>> + Clone,
    {
        let Self {
            permit,
            counted,
            request,
        } = self;
        call.attempts().on_sent(counted, permit);
        let _owned = call.owns().then(own);
        service.call(request)
    }
}

/// Ready when the deadline has come; registers a timer for it if there is none yet.
pub(crate) fn poll_deadline(
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
