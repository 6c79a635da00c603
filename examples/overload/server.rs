//! A server that works on one request at a time, in the order of their arrival.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Empty;
use steadfast::deadline::server::InboundDeadlineLayer;
use tokio::sync::Semaphore;
use tower::{Layer, ServiceExt, service_fn};

/// A handle on the server.
#[derive(Clone)]
pub(crate) struct Server {
    shared: Arc<Shared>,
    drops: bool,
}

struct Shared {
    turn: Semaphore,
    millis: AtomicU32,
    worked: AtomicU64,
}

impl Server {
    /// A server whose requests take this many milliseconds each; `drops` puts the deadline layer
    /// in front of it, with its defaults.
    pub(crate) fn new(millis: u32, drops: bool) -> Self {
        let shared = Shared {
            turn: Semaphore::new(1),
            millis: AtomicU32::new(millis),
            worked: AtomicU64::new(0),
        };
        let shared = Arc::new(shared);
        Self { shared, drops }
    }

    /// From now on requests take this long.
    pub(crate) fn take(&self, millis: u32) {
        self.shared.millis.store(millis, Ordering::Relaxed);
    }

    /// How many requests were worked on to their end, whoever still waited.
    pub(crate) fn worked(&self) -> u64 {
        self.shared.worked.load(Ordering::Relaxed)
    }

    /// Serves one request to its end.
    pub(crate) async fn serve(self, request: Request<()>) -> Response<Empty<Bytes>> {
        let Self { shared, drops } = self;
        let handler = service_fn(move |_: Request<()>| handle(Arc::clone(&shared)));
        let answer = if drops {
            let layered = InboundDeadlineLayer::default().layer(handler);
            layered
                .oneshot(request)
                .await
                .map(|answer| answer.map(std::mem::drop))
        } else {
            handler
                .oneshot(request)
                .await
                .map(|answer| answer.map(std::mem::drop))
        };
        let Ok(answer) = answer;
        answer.map(|()| Empty::new())
    }
}

/// Waits for its turn, in order; one that is dropped leaves the queue.
async fn handle(shared: Arc<Shared>) -> Result<Response<Empty<Bytes>>, Infallible> {
    // A semaphore that nobody closes has a turn for everybody in the end.
    if let Ok(_turn) = shared.turn.acquire().await {
        let millis = shared.millis.load(Ordering::Relaxed);
        tokio::time::sleep(Duration::from_millis(millis.into())).await;
        shared.worked.fetch_add(1, Ordering::Relaxed);
    }
    Ok(Response::new(Empty::new()))
}
