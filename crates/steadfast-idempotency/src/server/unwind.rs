use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

pin_project! {
    /// Turns a panic of the inner future into `Err`, so that its transaction can be rolled back
    /// before anybody is answered. The panic hook has reported it by then.
    pub(crate) struct CatchUnwind<F> {
        #[pin]
        future: F,
    }
}

/// The inner future panicked.
#[derive(Debug)]
pub(crate) struct Panicked;

impl<F> CatchUnwind<F> {
    pub(crate) const fn new(future: F) -> Self {
        Self { future }
    }
}

impl<F: Future> Future for CatchUnwind<F> {
    type Output = Result<F::Output, Panicked>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let future = self.project().future;
        // The future is never polled again after a panic, only dropped, and what it shared with
        // the engine is a transaction that is rolled back: nothing broken is looked at.
        match catch_unwind(AssertUnwindSafe(|| future.poll(cx))) {
            Ok(poll) => poll.map(Ok),
            Err(_) => Poll::Ready(Err(Panicked)),
        }
    }
}
