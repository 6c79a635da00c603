use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use steadfast_core::BoxError;

use crate::refusal::refused;

pin_project! {
    /// One attempt that was told its time: the future of [`Propagate`](crate::Propagate).
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct PropagateFuture<F> {
        #[pin]
        state: State<F>,
    }
}

pin_project! {
    #[project = StateProj]
    #[derive(Debug)]
    enum State<F> {
        Sent { #[pin] attempt: F },
        Refused,
    }
}

impl<F> PropagateFuture<F> {
    #[inline]
    pub(super) const fn sent(attempt: F) -> Self {
        Self {
            state: State::Sent { attempt },
        }
    }

    #[inline]
    pub(super) const fn refused() -> Self {
        Self {
            state: State::Refused,
        }
    }
}

impl<F, T, E> Future for PropagateFuture<F>
where
    F: Future<Output = Result<T, E>>,
    E: Into<BoxError>,
{
    type Output = Result<T, BoxError>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(match self.project().state.project() {
            StateProj::Sent { attempt } => ready!(attempt.poll(cx)).map_err(Into::into),
            StateProj::Refused => Err(refused()),
        })
    }
}
