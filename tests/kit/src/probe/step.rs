use std::fmt;
use std::future::{Future, pending, ready};
use std::pin::Pin;
use std::time::Duration;

use crate::BoxError;

/// How one reservation of a [`Probe`](crate::Probe) goes.
#[derive(Debug)]
#[non_exhaustive]
pub enum Readiness {
    /// At the first `poll_ready`.
    Now,
    /// At the second `poll_ready`, which the first one asks for by waking its task.
    Later,
    /// After this time on tokio's clock.
    After(Duration),
    /// Never: pending for ever.
    Never,
    /// An error instead.
    Fail(BoxError),
}

impl Readiness {
    /// An error instead of readiness.
    pub fn fail(error: impl Into<BoxError>) -> Self {
        Self::Fail(error.into())
    }
}

pub(super) type Answer<Res> = Pin<Box<dyn Future<Output = Result<Res, BoxError>> + Send>>;

type Make<Req, Res> = Box<dyn FnOnce(&mut Option<Req>) -> Answer<Res> + Send>;

/// How a [`Probe`](crate::Probe) treats one call.
///
/// Unless [`call`](Self::call) takes the request, the probe holds it until the call has ended or
/// was dropped, as a connection does.
pub struct Step<Req, Res> {
    pub(super) make: Make<Req, Res>,
    pub(super) delay: Duration,
}

impl<Req, Res: Send + 'static> Step<Req, Res> {
    /// Answers at the first poll.
    pub fn answer(answer: Res) -> Self {
        Self::new(|_| Box::pin(ready(Ok(answer))))
    }

    /// Fails at the first poll.
    pub fn fail(error: impl Into<BoxError>) -> Self {
        let error = error.into();
        Self::new(|_| Box::pin(ready(Err(error))))
    }

    /// Stays pending for ever.
    pub fn never() -> Self {
        Self::new(|_| Box::pin(pending()))
    }

    /// Does with the request whatever the closure says, at the first poll.
    pub fn call<F>(act: impl FnOnce(Req) -> F + Send + 'static) -> Self
    where
        F: Future<Output = Result<Res, BoxError>> + Send + 'static,
    {
        Self::new(|request| match request.take() {
            Some(request) => Box::pin(act(request)),
            // The probe hands every step its request once.
            None => Box::pin(pending()),
        })
    }

    /// Lets this time pass on tokio's clock before the step begins. Default: none, and no timer.
    #[must_use]
    pub const fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    fn new(make: impl FnOnce(&mut Option<Req>) -> Answer<Res> + Send + 'static) -> Self {
        Self {
            make: Box::new(make),
            delay: Duration::ZERO,
        }
    }
}

impl<Req, Res> fmt::Debug for Step<Req, Res> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Step")
            .field("delay", &self.delay)
            .finish_non_exhaustive()
    }
}
