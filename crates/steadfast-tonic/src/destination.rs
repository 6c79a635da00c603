use std::sync::Arc;
use std::task::{Context, Poll};

use http::{HeaderMap, Request};
use steadfast_core::{CallState, Deadline, TimeoutHeader};
use tower_layer::Layer;
use tower_service::Service;

use crate::clock;

/// Tells the layers below what a generated client's request does not: the name of its destination.
///
/// The URI of such a request is a path, since its [`Channel`](https://docs.rs/tonic/latest/tonic/transport/struct.Channel.html)
/// knows the authority. Budgets, circuits and pauses are kept for each destination, so without a
/// name all clients of a process would share them. gRPC throttles retries for each *server name*:
/// this is that name.
///
/// It also reads the call's deadline from `grpc-timeout`, which `tonic::Request::set_timeout`
/// writes: the time of the whole call then, waits and repeats included, as gRPC means it. Without
/// it each attempt would have that time anew.
///
/// Outside every other layer of Steadfast's but [`StatusLayer`](crate::StatusLayer). A name that
/// the call has already stays.
#[derive(Clone, Debug)]
pub struct DestinationLayer {
    name: Arc<str>,
}

impl DestinationLayer {
    /// A layer of this name: a host, with its port if that tells two apart.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self { name: name.into() }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl<S> Layer<S> for DestinationLayer {
    type Service = NamedDestination<S>;

    fn layer(&self, inner: S) -> NamedDestination<S> {
        NamedDestination {
            inner,
            name: self.name.clone(),
        }
    }
}

/// A service whose requests name their destination; see [`DestinationLayer`].
#[derive(Clone, Debug)]
pub struct NamedDestination<S> {
    inner: S,
    name: Arc<str>,
}

impl<S, B> Service<Request<B>> for NamedDestination<S>
where
    S: Service<Request<B>>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<B>) -> S::Future {
        let deadline = deadline(request.headers());
        CallState::edit(request.extensions_mut(), |state| {
            if state.destination().is_none() {
                state.set_destination(self.name.clone());
            }
            state.tighten_deadline(deadline);
        });
        self.inner.call(request)
    }
}

/// When the caller wants to be answered. What cannot be read is no deadline.
fn deadline(headers: &HeaderMap) -> Deadline {
    let header = TimeoutHeader::grpc();
    let line = headers.get(header.name());
    let left = line.and_then(|line| header.format().decode(line.as_bytes()).ok());
    left.map_or(Deadline::NONE, |left| Deadline::after(clock::now(), left))
}
