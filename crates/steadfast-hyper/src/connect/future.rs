use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use pin_project_lite::pin_project;
use steadfast_core::{BoxError, Cut, Deadline, Elapsed, Failure, Outcome, Reason, Report};
use tokio::time::{Sleep, sleep};

pin_project! {
    /// A connection that must come in time: the future of
    /// [`ConnectTimeout`](crate::ConnectTimeout).
    ///
    /// The connector is polled first, and no timer exists before it was pending once. Dropping it
    /// drops the attempt to connect.
    ///
    /// # Panics
    ///
    /// When it is polled again after its end, and, where there is a limit and the connector is
    /// pending, outside of a tokio runtime with time enabled.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct ConnectFuture<F> {
        // Gone once it ended, so that a socket half open is closed at once.
        #[pin]
        connecting: Option<F>,
        // In a box, since hyper-util's client takes only connectors whose futures are `Unpin`:
        // one for each connection that has to be waited for.
        timer: Option<Pin<Box<Sleep>>>,
        limit: Duration,
    }
}

impl<F> ConnectFuture<F> {
    pub(super) const fn new(connecting: F, limit: Duration) -> Self {
        Self {
            connecting: Some(connecting),
            timer: None,
            limit,
        }
    }
}

impl<F, T, E> Future for ConnectFuture<F>
where
    F: Future<Output = Result<T, E>>,
    E: Into<BoxError>,
{
    type Output = Result<T, BoxError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let Some(connecting) = this.connecting.as_mut().as_pin_mut() else {
            panic!("polled after the connection had come or failed");
        };
        let connected = if let Poll::Ready(connected) = connecting.poll(cx) {
            connected.map_err(Into::into)
        } else {
            if *this.limit >= Deadline::NO_LIMIT {
                return Poll::Pending;
            }
            let limit = *this.limit;
            let timer = this.timer.get_or_insert_with(|| Box::pin(sleep(limit)));
            ready!(timer.as_mut().poll(cx));
            Err(elapsed(limit))
        };
        this.connecting.set(None);
        *this.timer = None;
        Poll::Ready(connected)
    }
}

#[cold]
fn elapsed(limit: Duration) -> BoxError {
    let report = Report::new(1, limit, Some(Reason::Deadline), Outcome::NotApplied);
    Failure::new(report, Elapsed::new(limit, Cut::Connect)).into()
}
