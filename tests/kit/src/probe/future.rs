use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::time::Sleep;

use super::Step;
use super::step::Answer;
use crate::BoxError;

/// The future of one call of a [`Probe`](crate::Probe).
#[must_use = "futures do nothing unless polled"]
pub struct Answering<Req, Res> {
    stage: Stage<Req, Res>,
    request: Option<Req>,
    /// Told once, at the end, whether the call was dropped before it ended.
    ended: Option<Box<dyn FnOnce(bool) + Send>>,
}

enum Stage<Req, Res> {
    Waiting(Option<Step<Req, Res>>, Option<Pin<Box<Sleep>>>),
    Answering(Answer<Res>),
    Ended,
}

/// Nothing in it is pinned but what sits in a box of its own.
impl<Req, Res> Unpin for Answering<Req, Res> {}

impl<Req, Res> Answering<Req, Res> {
    pub(super) fn new(
        step: Step<Req, Res>,
        request: Req,
        ended: Box<dyn FnOnce(bool) + Send>,
    ) -> Self {
        // The sleep starts at the call, as the peer's work does.
        let sleep = (!step.delay.is_zero()).then(|| Box::pin(tokio::time::sleep(step.delay)));
        Self {
            stage: Stage::Waiting(Some(step), sleep),
            request: Some(request),
            ended: Some(ended),
        }
    }

    fn end(&mut self, cancelled: bool) {
        if let Some(ended) = self.ended.take() {
            ended(cancelled);
        }
    }
}

impl<Req, Res> Future for Answering<Req, Res> {
    type Output = Result<Res, BoxError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        loop {
            match &mut this.stage {
                Stage::Waiting(step, sleep) => {
                    if let Some(sleep) = sleep {
                        std::task::ready!(sleep.as_mut().poll(cx));
                    }
                    let Some(step) = step.take() else {
                        panic!("the step panicked when it was begun");
                    };
                    this.stage = Stage::Answering((step.make)(&mut this.request));
                }
                Stage::Answering(answer) => {
                    let answer = std::task::ready!(answer.as_mut().poll(cx));
                    this.stage = Stage::Ended;
                    this.request = None;
                    this.end(false);
                    return Poll::Ready(answer);
                }
                Stage::Ended => panic!("the probe's future was polled after it had ended"),
            }
        }
    }
}

impl<Req, Res> Drop for Answering<Req, Res> {
    fn drop(&mut self) {
        self.end(true);
    }
}

impl<Req, Res> fmt::Debug for Answering<Req, Res> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = match self.stage {
            Stage::Waiting(..) => "waiting",
            Stage::Answering(_) => "answering",
            Stage::Ended => "ended",
        };
        f.debug_struct("Answering")
            .field("stage", &stage)
            .finish_non_exhaustive()
    }
}
