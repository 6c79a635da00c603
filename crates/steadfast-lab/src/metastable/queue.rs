use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Empty;
use tokio::sync::Semaphore;
use tower::Service;

/// Requests that it can do in a second: one in each tick of tokio's timers.
pub(super) const CAPACITY: u32 = 1000;

/// A handler that works on one request at a time, in the order of their arrival.
#[derive(Clone, Debug)]
pub(super) struct Queue(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    turn: Semaphore,
    millis: AtomicU64,
    length: AtomicU64,
    worked: AtomicU64,
}

impl Queue {
    pub(super) fn new() -> Self {
        Self(Arc::new(Shared {
            turn: Semaphore::new(1),
            millis: AtomicU64::new(1),
            length: AtomicU64::new(0),
            worked: AtomicU64::new(0),
        }))
    }

    /// From now on a request takes so many milliseconds.
    pub(super) fn take(&self, millis: u64) {
        self.0.millis.store(millis, Ordering::Relaxed);
    }

    /// Requests that wait or are worked on.
    pub(super) fn length(&self) -> u64 {
        self.0.length.load(Ordering::Relaxed)
    }

    /// Requests that were worked on to their end, whoever still waited.
    pub(super) fn worked(&self) -> u64 {
        self.0.worked.load(Ordering::Relaxed)
    }
}

impl<B: Send + 'static> Service<Request<B>> for Queue {
    type Response = Response<Empty<Bytes>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<B>) -> Self::Future {
        let place = Place::new(self.0.clone());
        Box::pin(async move {
            // A semaphore that nobody closes has a turn for everybody in the end.
            if let Ok(_turn) = place.0.turn.acquire().await {
                let millis = place.0.millis.load(Ordering::Relaxed);
                tokio::time::sleep(Duration::from_millis(millis)).await;
                place.0.worked.fetch_add(1, Ordering::Relaxed);
            }
            Ok(Response::new(Empty::new()))
        })
    }
}

/// A place in the queue; one that is dropped leaves it.
struct Place(Arc<Shared>);

impl Place {
    fn new(shared: Arc<Shared>) -> Self {
        shared.length.fetch_add(1, Ordering::Relaxed);
        Self(shared)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.length.fetch_sub(1, Ordering::Relaxed);
    }
}
