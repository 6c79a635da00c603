//! How does a call proceed that found no place?

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use http::Request;
use pin_project_lite::pin_project;
use steadfast_core::{BoxError, Deadline, Reason, Rejected};
use tokio::time::{Instant, Sleep, sleep_until};
use tower_service::Service;

use super::gate::{Permit, Queued};
use super::shared::Shared;
use crate::clock;

pin_project! {
    /// A call that waits for its place, and then for the readiness of the instance that it will
    /// be made through.
    pub(super) struct Waiting<S, B> {
        turn: Turn,
        // Not readied before the place is there.
        service: S,
        request: Option<Request<B>>,
        #[pin]
        timer: Option<Sleep>,
        until: Deadline,
        deadline: Deadline,
        shared: Arc<Shared>,
    }
}

enum Turn {
    Queued(Queued),
    Come(Option<Permit>),
}

impl<S, B> Waiting<S, B> {
    /// In the queue up to `until`, then up to `deadline` for readiness.
    pub(super) const fn new(
        service: S,
        request: Request<B>,
        queued: Queued,
        until: Deadline,
        deadline: Deadline,
        shared: Arc<Shared>,
    ) -> Self {
        Self {
            turn: Turn::Queued(queued),
            service,
            request: Some(request),
            timer: None,
            until,
            deadline,
            shared,
        }
    }
}

impl<S: Service<Request<B>, Error: Into<BoxError>>, B> Waiting<S, B> {
    /// The call on its way and its permit. Not to be polled again then.
    pub(super) fn poll_call(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(S::Future, Permit), BoxError>> {
        let mut this = self.project();
        if let Turn::Queued(queued) = this.turn {
            let Poll::Ready(permit) = queued.poll_permit(cx) else {
                ready!(poll_end(this.timer, *this.until, cx));
                return refused(this.shared, this.request, Reason::BulkheadFull);
            };
            *this.turn = Turn::Come(Some(permit));
            this.timer.set(None);
        }
        match this.service.poll_ready(cx) {
            Poll::Pending => ready!(poll_end(this.timer, *this.deadline, cx)),
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error.into())),
            Poll::Ready(Ok(())) if this.deadline.is_expired(clock::now()) => {}
            Poll::Ready(Ok(())) => {
                if let (Turn::Come(permit), Some(request)) = (this.turn, this.request.take()) {
                    if let Some(permit) = permit.take() {
                        return Poll::Ready(Ok((this.service.call(request), permit)));
                    }
                }
            }
        }
        refused(this.shared, this.request, Reason::Deadline)
    }
}

fn refused<T, B>(
    shared: &Shared,
    request: &Option<Request<B>>,
    reason: Reason,
) -> Poll<Result<T, BoxError>> {
    if let Some(request) = request {
        shared.tell(request, reason);
    }
    Poll::Ready(Err(Rejected::new(reason).into()))
}

/// Ready when the end has come; takes a timer for it if there is none yet.
fn poll_end(mut timer: Pin<&mut Option<Sleep>>, end: Deadline, cx: &mut Context<'_>) -> Poll<()> {
    let Some(instant) = end.instant() else {
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
