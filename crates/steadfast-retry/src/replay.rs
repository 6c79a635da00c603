use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::{Buf, Bytes};
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use steadfast_core::BoxError;
use steadfast_core::decide::BodyState;

mod kept;
mod reader;
mod superseded;

use kept::Kept;
use reader::Reader;
pub use superseded::Superseded;

/// A request body that can be sent again.
///
/// The bytes that an attempt sends are kept, up to a bound; the next attempt sends those first
/// and then goes on with the source, wherever the first one stopped. Nothing is read ahead and
/// nothing is kept for an empty body. Each attempt shows the same size hint.
///
/// The newest attempt owns the source: an older one that is still held by a connection gets the
/// error [`Superseded`] when it is polled, so no byte is lost to it.
///
/// An error of the source reaches the attempt unchanged, and no other attempt is made.
pub struct ReplayBody<B>(Repr<B>);

enum Repr<B> {
    /// The body had ended before it began.
    Empty(SizeHint),
    /// Sent once: too long to keep, or no retry is possible.
    Once(B),
    Shared(Reader<B>),
}

struct Shared<B> {
    hint: SizeHint,
    state: Mutex<State<B>>,
}

struct State<B> {
    source: Option<B>,
    kept: Kept,
    trailers: Option<HeaderMap>,
    generation: u64,
    failed: bool,
    /// Of the attempt that waits for the source.
    waker: Option<Waker>,
}

/// The retry loop's hold on a request body.
pub(crate) struct Replay<B>(Handle<B>);

enum Handle<B> {
    Empty(SizeHint),
    Once,
    Shared(Arc<Shared<B>>),
}

impl<B> ReplayBody<B> {
    /// A body that is sent once.
    pub(crate) fn once(body: B) -> (Self, Replay<B>) {
        (Self(Repr::Once(body)), Replay(Handle::Once))
    }

    fn reader(shared: Arc<Shared<B>>, generation: u64) -> Self {
        Self(Repr::Shared(Reader::new(shared, generation)))
    }
}

impl<B: Body> ReplayBody<B> {
    /// A body of which `limit` bytes are kept, and the hold that makes it again.
    pub(crate) fn new(body: B, limit: usize) -> (Self, Replay<B>) {
        let hint = body.size_hint();
        if body.is_end_stream() {
            return (Self(Repr::Empty(hint)), Replay(Handle::Empty(hint)));
        }
        if usize::try_from(hint.lower()).map_or(true, |least| least > limit) {
            return Self::once(body);
        }
        let shared = Arc::new(Shared {
            hint,
            state: Mutex::new(State {
                source: Some(body),
                kept: Kept::up_to(limit),
                trailers: None,
                generation: 0,
                failed: false,
                waker: None,
            }),
        });
        (
            Self::reader(shared.clone(), 0),
            Replay(Handle::Shared(shared)),
        )
    }
}

impl<B> Replay<B> {
    /// Whether the body can be sent again.
    pub(crate) fn state(&self) -> BodyState {
        match &self.0 {
            Handle::Empty(_) => BodyState::Replayable,
            Handle::Once => BodyState::NotReplayable,
            Handle::Shared(shared) => {
                let state = shared.lock();
                match state.failed || state.kept.is_cut() {
                    true => BodyState::NotReplayable,
                    false => BodyState::Replayable,
                }
            }
        }
    }

    /// Whether it can be sent again, as far as is known.
    pub(crate) fn is_replayable(&self) -> bool {
        self.state() == BodyState::Replayable
    }

    /// Whether all of the body has gone out: what the peer says now is no early answer.
    pub(crate) fn has_ended(&self) -> bool
    where
        B: Body,
    {
        match &self.0 {
            Handle::Empty(_) => true,
            Handle::Once => false,
            Handle::Shared(shared) => {
                let state = shared.lock();
                state.source.as_ref().is_none_or(Body::is_end_stream) && !state.failed
            }
        }
    }

    /// The body of the next attempt; every earlier one is superseded. `None` if it cannot be.
    pub(crate) fn again(&self) -> Option<ReplayBody<B>> {
        match &self.0 {
            Handle::Empty(hint) => Some(ReplayBody(Repr::Empty(*hint))),
            Handle::Once => None,
            Handle::Shared(shared) => {
                let mut state = shared.lock();
                if state.failed || state.kept.is_cut() {
                    return None;
                }
                state.generation += 1;
                let (generation, waker) = (state.generation, state.waker.take());
                drop(state);
                // The source knows one waker only, and from now on the next attempt's: without
                // this an upload that waits would never learn that it is superseded.
                waker.into_iter().for_each(Waker::wake);
                Some(ReplayBody::reader(shared.clone(), generation))
            }
        }
    }
}

/// The call is decided: an upload that goes on keeps nothing more.
impl<B> Drop for Replay<B> {
    fn drop(&mut self) {
        if let Handle::Shared(shared) = &self.0 {
            shared.lock().kept.cut();
        }
    }
}

impl<B> Shared<B> {
    fn lock(&self) -> MutexGuard<'_, State<B>> {
        // A body that panicked while it was polled is as bad as one that failed: its next poll
        // says so itself.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<B> Body for ReplayBody<B>
where
    B: Body<Error: Into<BoxError>> + Unpin,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match &mut self.0 {
            Repr::Empty(_) => Poll::Ready(None),
            Repr::Once(body) => Pin::new(body)
                .poll_frame(cx)
                .map(|frame| Some(frame?.map(into_bytes).map_err(Into::into))),
            Repr::Shared(reader) => reader.poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Repr::Empty(_) => true,
            Repr::Once(body) => body.is_end_stream(),
            Repr::Shared(reader) => reader.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Repr::Empty(hint) => *hint,
            Repr::Once(body) => body.size_hint(),
            Repr::Shared(reader) => reader.size_hint(),
        }
    }
}

fn into_bytes<D: Buf>(frame: Frame<D>) -> Frame<Bytes> {
    // Costs nothing where the data are `Bytes` already.
    frame.map_data(|mut data| data.copy_to_bytes(data.remaining()))
}

impl<B> fmt::Debug for ReplayBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.0 {
            Repr::Empty(_) => "Empty",
            Repr::Once(_) => "Once",
            Repr::Shared(_) => "Replayable",
        };
        f.debug_tuple("ReplayBody")
            .field(&format_args!("{kind}"))
            .finish()
    }
}

#[cfg(test)]
mod tests;
