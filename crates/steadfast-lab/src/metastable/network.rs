use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Empty;
use steadfast::server::{Standard, StandardLayer};
use tokio::task::{JoinError, JoinHandle};
use tower::{Layer, Service, ServiceExt};

use super::Expired;
use super::queue::Queue;
use super::world::Tally;

/// Between a client and the server: what was sent arrives, and stays when its sender leaves,
/// since a server learns of that late, if ever.
#[derive(Clone)]
pub(super) struct Network {
    server: Server,
    tally: Tally,
}

#[derive(Clone)]
enum Server {
    Alone(Queue),
    Standing(Standard<Queue>),
}

impl Network {
    pub(super) fn new(queue: Queue, expired: Expired, tally: Tally) -> Self {
        let server = match expired {
            Expired::WorkedOn => Server::Alone(queue),
            Expired::Dropped => Server::Standing(StandardLayer::default().layer(queue)),
        };
        Self { server, tally }
    }
}

impl<B> Service<Request<B>> for Network {
    type Response = Response<Empty<Bytes>>;
    type Error = JoinError;
    type Future = JoinHandle<Response<Empty<Bytes>>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), JoinError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        self.tally.attempted();
        let server = self.server.clone();
        // What one process knows of the other is what is on the wire.
        let (head, _) = request.into_parts();
        let mut arriving = Request::new(());
        *arriving.method_mut() = head.method;
        *arriving.uri_mut() = head.uri;
        *arriving.headers_mut() = head.headers;
        tokio::spawn(async move {
            match server {
                Server::Alone(queue) => {
                    let Ok(answer) = queue.oneshot(arriving).await;
                    answer
                }
                Server::Standing(standard) => {
                    let Ok(answer) = standard.oneshot(arriving).await;
                    answer.map(|_| Empty::new())
                }
            }
        })
    }
}
