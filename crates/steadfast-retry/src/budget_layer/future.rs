use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::Response;
use pin_project_lite::pin_project;
use steadfast_core::{BoxError, Reason, Rejected};

use super::in_flight::InFlight;

pin_project! {
    /// The future of [`Budgeted`](super::Budgeted): one attempt, or its refusal.
    ///
    /// Dropped, it tells the budget that the attempt ended in neither way, and gives its permit
    /// up.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct BudgetFuture<F> {
        #[pin]
        state: State<F>,
    }
}

pin_project! {
    #[derive(Debug)]
    #[project = StateProj]
    enum State<F> {
        Calling { #[pin] attempt: F, in_flight: Option<InFlight> },
        Refused { reason: Reason },
    }
}

impl<F> BudgetFuture<F> {
    pub(super) const fn refused(reason: Reason) -> Self {
        Self {
            state: State::Refused { reason },
        }
    }

    pub(super) const fn calling(attempt: F, in_flight: Option<InFlight>) -> Self {
        Self {
            state: State::Calling { attempt, in_flight },
        }
    }
}

impl<F, R, E> Future for BudgetFuture<F>
where
    F: Future<Output = Result<Response<R>, E>>,
    E: Into<BoxError>,
{
    type Output = Result<Response<R>, BoxError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let (attempt, in_flight) = match self.project().state.project() {
            StateProj::Refused { reason } => {
                return Poll::Ready(Err(Rejected::new(*reason).into()));
            }
            StateProj::Calling { attempt, in_flight } => (attempt, in_flight),
        };
        let result = ready!(attempt.poll(cx)).map_err(Into::into);
        if let Some(in_flight) = in_flight.take() {
            match &result {
                Ok(response) => in_flight.on_answer(response),
                Err(error) => in_flight.on_error(error),
            }
        }
        Poll::Ready(result)
    }
}
