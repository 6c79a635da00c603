use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http::Response;
use pin_project_lite::pin_project;
use steadfast_core::{BoxError, Reason, Rejected};

use super::pause::Pause;
use super::shared::Shared;
use crate::told::Told;

pin_project! {
    /// The future of a call through a [`Cooldown`](super::Cooldown).
    ///
    /// It holds nothing that must be given back: dropped before the head of the answer has come,
    /// the call has said nothing about its host.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct CooldownFuture<F> {
        #[pin]
        state: State<F>,
    }
}

pin_project! {
    #[project = StateProj]
    #[derive(Debug)]
    enum State<F> {
        // Nothing is heard where the layer is off.
        Calling { #[pin] call: F, heard: Option<Heard> },
        Refused { rest: Duration },
    }
}

/// Where the answer's hint goes.
#[derive(Debug)]
pub(super) struct Heard {
    pub(super) shared: Arc<Shared>,
    pub(super) pause: Arc<Pause>,
    pub(super) told: Option<Told>,
}

impl Heard {
    fn hear<R>(&self, answer: &Response<R>) {
        let longer = self.shared.hear(&self.pause, answer);
        if let (Some(wait), Some(told)) = (longer, &self.told) {
            self.shared.tell_began(told, answer, wait);
        }
    }
}

impl<F> CooldownFuture<F> {
    /// Takes what hears the answer.
    #[inline]
    pub(super) const fn calling(call: F, heard: &mut Option<Heard>) -> Self {
        Self {
            state: State::Calling {
                call,
                heard: heard.take(),
            },
        }
    }

    pub(super) const fn refused(rest: Duration) -> Self {
        let state = State::Refused { rest };
        Self { state }
    }
}

impl<F, R, E> Future for CooldownFuture<F>
where
    F: Future<Output = Result<Response<R>, E>>,
    E: Into<BoxError>,
{
    type Output = Result<Response<R>, BoxError>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project().state.project() {
            StateProj::Calling { call, heard } => {
                // Handed on as it came: each rewrapping would move it once more.
                let answer = ready!(call.poll(cx));
                if let (Ok(answer), Some(heard)) = (&answer, heard) {
                    heard.hear(answer);
                }
                Poll::Ready(answer.map_err(Into::into))
            }
            StateProj::Refused { rest } => {
                let refusal = Rejected::new(Reason::Cooldown).with_retry_in(*rest);
                Poll::Ready(Err(refusal.into()))
            }
        }
    }
}
