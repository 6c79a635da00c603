use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use steadfast_core::{BoxError, Cut, Elapsed};
use tokio::time::{Sleep, sleep_until};

use super::BodyTimeoutError;
use super::limits::{BodyLimits, End};
use crate::clock;

pin_project! {
    /// A response body under the limits of [`BodyTimeout`](crate::BodyTimeout).
    ///
    /// Frames, the end flag and the size hint are the inner body's. What is there when the time
    /// ends is handed on. When the time is over the inner body is dropped, which closes its
    /// connection or stream; the error is a [`BodyTimeoutError`], and nothing follows it.
    ///
    /// No timer exists before the inner body was pending once.
    ///
    /// # Panics
    ///
    /// Where there is a limit and the inner body is pending, outside of a tokio runtime with time
    /// enabled.
    #[derive(Debug)]
    pub struct TimedBody<B> {
        // Gone once the time was over.
        #[pin]
        body: Option<B>,
        // In a box, so that the body stays `Unpin` where the peer's is, as hyper's is: readers
        // call `frame()` on it. One for each body that has to be waited for.
        timer: Option<Pin<Box<Sleep>>>,
        // Since when the reader waits for the next frame.
        silent: Option<Instant>,
        limits: BodyLimits,
    }
}

impl<B> TimedBody<B> {
    pub(super) const fn new(body: B, limits: BodyLimits) -> Self {
        Self {
            body: Some(body),
            timer: None,
            silent: None,
            limits,
        }
    }
}

impl<B> Body for TimedBody<B>
where
    B: Body<Error: Into<BoxError>>,
{
    type Data = B::Data;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, BoxError>>> {
        let mut this = self.project();
        let Some(body) = this.body.as_mut().as_pin_mut() else {
            return Poll::Ready(None);
        };
        let cause = if let Poll::Ready(frame) = body.poll_frame(cx) {
            *this.silent = None;
            // Else bytes that never pause would never meet the timer. Trailers are the end.
            let is_data = matches!(&frame, Some(Ok(frame)) if frame.is_data());
            match this
                .limits
                .end
                .filter(|end| is_data && clock::now() > end.at)
            {
                None => return Poll::Ready(frame.map(|frame| frame.map_err(Into::into))),
                Some(end) => Elapsed::new(end.time, end.cut),
            }
        } else {
            let goes_on = this.silent.is_some();
            let Some((until, cause)) = next_limit(this.limits, this.silent) else {
                return Poll::Pending;
            };
            match this.timer {
                None => *this.timer = Some(Box::pin(sleep_until(until.into()))),
                // It still runs for the silence before.
                Some(timer) if !goes_on => timer.as_mut().reset(until.into()),
                Some(_) => {}
            }
            if let Some(timer) = this.timer {
                ready!(timer.as_mut().poll(cx));
            }
            cause
        };
        // The peer learns it now, not when the reader drops this body.
        this.body.set(None);
        *this.timer = None;
        Poll::Ready(Some(Err(BodyTimeoutError::new(cause).into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        match &self.body {
            Some(body) => body.size_hint(),
            None => SizeHint::with_exact(0),
        }
    }
}

/// Until when the reader waits, and what is over then.
fn next_limit(limits: &BodyLimits, silent: &mut Option<Instant>) -> Option<(Instant, Elapsed)> {
    let idle = limits.idle.map(|idle| {
        let since = *silent.get_or_insert_with(clock::now);
        (since + idle, Elapsed::new(idle, Cut::BodyIdle))
    });
    let end = limits
        .end
        .map(|End { at, time, cut }| (at, Elapsed::new(time, cut)));
    match (idle, end) {
        (Some(idle), Some(end)) => Some(if end.0 <= idle.0 { end } else { idle }),
        (one, other) => one.or(other),
    }
}
