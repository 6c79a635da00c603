use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use tokio::sync::Notify;

use crate::BoxError;

mod random;

pub use random::Schedule;

/// What a [`Chunks`] body does at one poll.
#[non_exhaustive]
pub enum Piece {
    /// Gives these bytes.
    Data(Bytes),
    /// Is pending once and wakes its task.
    Pending,
    /// Is pending until this is notified, then goes on with the next piece.
    Wait(Arc<Notify>),
    /// Is pending for ever.
    Never,
    /// Gives these trailers.
    Trailers(HeaderMap),
    /// Fails.
    Error(BoxError),
}

impl Piece {
    /// These bytes.
    pub fn data(bytes: impl Into<Bytes>) -> Self {
        Self::Data(bytes.into())
    }

    /// One trailer.
    ///
    /// # Panics
    ///
    /// When name or value is not what a header may hold.
    pub fn trailer(name: &'static str, value: &'static str) -> Self {
        let mut trailers = HeaderMap::new();
        trailers.insert(name, http::HeaderValue::from_static(value));
        Self::Trailers(trailers)
    }

    /// A failure.
    pub fn fail(error: impl Into<BoxError>) -> Self {
        Self::Error(error.into())
    }
}

impl fmt::Debug for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Data(bytes) => f.debug_tuple("Data").field(bytes).finish(),
            Self::Pending => f.write_str("Pending"),
            Self::Wait(_) => f.write_str("Wait"),
            Self::Never => f.write_str("Never"),
            Self::Trailers(map) => f.debug_tuple("Trailers").field(map).finish(),
            Self::Error(error) => f.debug_tuple("Error").field(error).finish(),
        }
    }
}

/// A body whose frames come from a list, and whose end can be watched.
///
/// It is not `Clone`, as a body that streams from elsewhere is not. By default it does not tell
/// its size, and says that it has ended only when polled;
/// [`with_exact_size`](Self::with_exact_size) makes it tell both.
///
/// ```
/// use steadfast_kit::{Chunks, Piece};
///
/// let body = Chunks::new([Piece::data("one"), Piece::Pending, Piece::data("two")]);
/// let watch = body.watch();
/// drop(body);
/// assert_eq!((watch.given(), watch.dropped()), (0, 1));
/// ```
#[derive(Debug)]
pub struct Chunks {
    pieces: VecDeque<Piece>,
    waiting: Option<Waiting>,
    exact: bool,
    watch: BodyWatch,
}

/// The wait of a [`Piece::Wait`].
struct Waiting(Pin<Box<dyn Future<Output = ()> + Send>>);

impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Waiting")
    }
}

impl Chunks {
    /// A body of these pieces.
    pub fn new(pieces: impl IntoIterator<Item = Piece>) -> Self {
        let pieces = pieces.into_iter().collect();
        Self {
            pieces,
            waiting: None,
            exact: false,
            watch: BodyWatch::default(),
        }
    }

    /// A body of these bytes, one frame each.
    pub fn of<T: Into<Bytes>>(chunks: impl IntoIterator<Item = T>) -> Self {
        Self::new(chunks.into_iter().map(Piece::data))
    }

    /// Tells the number of bytes that are left, and the end without being polled.
    #[must_use]
    pub fn with_exact_size(mut self) -> Self {
        self.exact = true;
        self
    }

    /// A handle that counts what happens to this body.
    pub fn watch(&self) -> BodyWatch {
        self.watch.clone()
    }
}

impl From<Bytes> for Chunks {
    /// One frame, or none where there are no bytes; it tells its size.
    fn from(bytes: Bytes) -> Self {
        let frame = (!bytes.is_empty()).then_some(Piece::Data(bytes));
        Self::new(frame).with_exact_size()
    }
}

impl Body for Chunks {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        self.watch.counts.polled.fetch_add(1, Ordering::Relaxed);
        if let Some(Waiting(wait)) = &mut self.waiting {
            std::task::ready!(wait.as_mut().poll(cx));
            self.waiting = None;
        }
        let frame = match self.pieces.pop_front() {
            None => return Poll::Ready(None),
            Some(Piece::Pending) => {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            Some(Piece::Wait(notify)) => {
                self.waiting = Some(Waiting(Box::pin(async move { notify.notified().await })));
                // The next poll is the wait's.
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            Some(Piece::Never) => {
                self.pieces.push_front(Piece::Never);
                return Poll::Pending;
            }
            Some(Piece::Error(error)) => return Poll::Ready(Some(Err(error))),
            Some(Piece::Data(bytes)) => Frame::data(bytes),
            Some(Piece::Trailers(trailers)) => Frame::trailers(trailers),
        };
        self.watch.counts.given.fetch_add(1, Ordering::Relaxed);
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.exact && self.pieces.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        if !self.exact {
            return SizeHint::default();
        }
        let left = self.pieces.iter().map(|piece| match piece {
            Piece::Data(bytes) => bytes.len() as u64,
            _ => 0,
        });
        SizeHint::with_exact(left.sum())
    }
}

impl Drop for Chunks {
    fn drop(&mut self) {
        self.watch.counts.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

/// Counts what happens to one [`Chunks`] body.
#[derive(Clone, Debug, Default)]
pub struct BodyWatch {
    counts: Arc<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    polled: AtomicUsize,
    given: AtomicUsize,
    dropped: AtomicUsize,
}

impl BodyWatch {
    /// How often the body was polled.
    pub fn polled(&self) -> usize {
        self.counts.polled.load(Ordering::Relaxed)
    }

    /// How many frames it gave.
    pub fn given(&self) -> usize {
        self.counts.given.load(Ordering::Relaxed)
    }

    /// 1 once the body was dropped; never more.
    pub fn dropped(&self) -> usize {
        self.counts.dropped.load(Ordering::Relaxed)
    }
}
