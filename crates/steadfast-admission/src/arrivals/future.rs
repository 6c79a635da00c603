use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::Response;
use pin_project_lite::pin_project;

use super::ArrivalsBody;
use super::words::Dialect;

pin_project! {
    /// The future of [`Arrivals`](super::Arrivals).
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct ArrivalsFuture<F> {
        #[pin]
        kind: Kind<F>,
    }
}

pin_project! {
    #[project = KindProj]
    #[derive(Debug)]
    enum Kind<F> {
        Serving { #[pin] inner: F },
        Refused { dialect: Dialect },
    }
}

impl<F> ArrivalsFuture<F> {
    pub(super) const fn serving(inner: F) -> Self {
        Self {
            kind: Kind::Serving { inner },
        }
    }

    pub(super) const fn refused(dialect: Dialect) -> Self {
        Self {
            kind: Kind::Refused { dialect },
        }
    }
}

impl<F, R, E> Future for ArrivalsFuture<F>
where
    F: Future<Output = Result<Response<R>, E>>,
{
    type Output = Result<Response<ArrivalsBody<R>>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(match self.project().kind.project() {
            KindProj::Serving { inner } => Ok(ready!(inner.poll(cx))?.map(ArrivalsBody::inner)),
            KindProj::Refused { dialect } => Ok(dialect.refusal().map(ArrivalsBody::words)),
        })
    }
}
