use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use steadfast_core::BoxError;

use super::{Shared, Superseded, into_bytes};

/// One attempt's view of the shared source.
pub(super) struct Reader<B> {
    shared: Arc<Shared<B>>,
    generation: u64,
    /// The next kept chunk to send.
    next: usize,
    sent: u64,
    trailers_sent: bool,
}

impl<B> Reader<B> {
    pub(super) fn new(shared: Arc<Shared<B>>, generation: u64) -> Self {
        Self {
            shared,
            generation,
            next: 0,
            sent: 0,
            trailers_sent: false,
        }
    }
}

impl<B> Reader<B>
where
    B: Body<Error: Into<BoxError>> + Unpin,
{
    pub(super) fn poll_frame(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let mut state = self.shared.lock();
        let state = &mut *state;
        if state.generation != self.generation {
            return Poll::Ready(Some(Err(Superseded.into())));
        }
        if let Some(chunk) = state.kept.chunk(self.next) {
            self.next += 1;
            self.sent += chunk.len() as u64;
            return Poll::Ready(Some(Ok(Frame::data(chunk))));
        }
        let Some(source) = &mut state.source else {
            let again = state.trailers.as_ref().filter(|_| !self.trailers_sent);
            self.trailers_sent = true;
            return Poll::Ready(again.map(|trailers| Ok(Frame::trailers(trailers.clone()))));
        };
        let frame = match Pin::new(source).poll_frame(cx) {
            Poll::Pending => {
                match &mut state.waker {
                    Some(waker) => waker.clone_from(cx.waker()),
                    none => *none = Some(cx.waker().clone()),
                }
                return Poll::Pending;
            }
            Poll::Ready(None) => {
                state.source = None;
                return Poll::Ready(None);
            }
            Poll::Ready(Some(Err(error))) => {
                state.source = None;
                state.failed = true;
                return Poll::Ready(Some(Err(error.into())));
            }
            Poll::Ready(Some(Ok(frame))) => into_bytes(frame),
        };
        if let Some(chunk) = frame.data_ref() {
            self.sent += chunk.len() as u64;
            self.next = state.kept.keep(chunk, self.next);
        } else if let Some(trailers) = frame.trailers_ref() {
            if !state.kept.is_cut() {
                state.trailers = Some(trailers.clone());
            }
            self.trailers_sent = true;
            // Trailers are the last frame: the next attempt finds them here.
            state.source = None;
        }
        Poll::Ready(Some(Ok(frame)))
    }

    pub(super) fn is_end_stream(&self) -> bool {
        let state = self.shared.lock();
        if state.generation != self.generation || state.kept.has(self.next) {
            return false;
        }
        match &state.source {
            Some(source) => source.is_end_stream(),
            None => self.trailers_sent || state.trailers.is_none(),
        }
    }

    pub(super) fn size_hint(&self) -> SizeHint {
        less(&self.shared.hint, self.sent)
    }
}

/// What is left of a hint after so many bytes.
fn less(hint: &SizeHint, sent: u64) -> SizeHint {
    let mut left = SizeHint::new();
    // The upper bound first: a lower one above it would panic.
    if let Some(upper) = hint.upper() {
        left.set_upper(upper.saturating_sub(sent));
    }
    left.set_lower(hint.lower().saturating_sub(sent));
    left
}
