use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use steadfast_core::BoxError;

pin_project! {
    /// The call of a [`WithKey`](crate::client::WithKey): the inner one, or a refusal.
    ///
    /// Dropping it drops the inner call.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture<F> {
        #[pin]
        call: Call<F>,
    }
}

pin_project! {
    #[derive(Debug)]
    #[project = CallProj]
    enum Call<F> {
        Sent { #[pin] inner: F },
        Refused { error: Option<BoxError> },
    }
}

impl<F> ResponseFuture<F> {
    pub(super) const fn sent(inner: F) -> Self {
        Self {
            call: Call::Sent { inner },
        }
    }

    pub(super) const fn refused(error: BoxError) -> Self {
        Self {
            call: Call::Refused { error: Some(error) },
        }
    }
}

impl<F, R, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<R, E>>,
    E: Into<BoxError>,
{
    type Output = Result<R, BoxError>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project().call.project() {
            CallProj::Sent { inner } => Poll::Ready(ready!(inner.poll(cx)).map_err(Into::into)),
            CallProj::Refused { error } => Poll::Ready(Err(error
                .take()
                .expect("a future is not polled after its end"))),
        }
    }
}
