use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Buf;
use http::{Request, Response};
use http_body::Body;
use steadfast_core::BoxError;
use tower_service::Service;

use crate::body::outgoing;
use crate::client_builder;

/// A `reqwest::Client` as a service of `http::Request<B>`, for any body: what layers stand on.
///
/// Head, body and trailers stream both ways. The body of a request costs one box, an empty one
/// none. The answer's body is a `reqwest::Body`; its errors, like those of the call, are
/// reqwest's own, and [`ReqwestClassify`](crate::ReqwestClassify) reads them.
///
/// Clones share connections, as those of reqwest's client do. It is always ready.
#[derive(Clone, Debug)]
pub struct Leaf {
    client: reqwest::Client,
}

impl Leaf {
    /// A leaf on this client.
    ///
    /// Start the client from [`client_builder`]: a client that repeats or follows redirects by
    /// itself does so unseen, with the call's idempotency key, and an error of the second hop
    /// then passes for one of the first.
    pub const fn new(client: reqwest::Client) -> Self {
        Self { client }
    }

    /// A leaf on a client of [`client_builder`]'s settings.
    ///
    /// # Errors
    ///
    /// When reqwest cannot make a client, as without a TLS provider that its features ask for.
    pub fn try_new() -> reqwest::Result<Self> {
        client_builder().build().map(Self::new)
    }

    /// The client below.
    pub const fn get_ref(&self) -> &reqwest::Client {
        &self.client
    }
}

impl<B> Service<Request<B>> for Leaf
where
    B: Body<Data: Buf, Error: Into<BoxError>> + Send + 'static,
{
    type Response = Response<reqwest::Body>;
    type Error = reqwest::Error;
    type Future = LeafFuture;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<reqwest::Result<()>> {
        self.client.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> LeafFuture {
        // It fails where the URI is no URL, for want of an authority above all.
        match reqwest::Request::try_from(request.map(outgoing)) {
            Ok(request) => LeafFuture(State::Sent(self.client.call(request))),
            Err(invalid) => LeafFuture(State::Invalid(Some(invalid))),
        }
    }
}

/// The answer to come: the future of a [`Leaf`].
///
/// Dropping it ends the exchange: HTTP/1 closes the connection, HTTP/2 resets the stream.
///
/// # Panics
///
/// When it is polled again after its end.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct LeafFuture(State);

#[derive(Debug)]
enum State {
    Sent(Pending),
    Invalid(Option<reqwest::Error>),
}

/// reqwest's future: public, but without a public name.
type Pending = <reqwest::Client as Service<reqwest::Request>>::Future;

impl Future for LeafFuture {
    type Output = reqwest::Result<Response<reqwest::Body>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = match &mut self.0 {
            State::Sent(pending) => ready!(Pin::new(pending).poll(cx)),
            State::Invalid(invalid) => match invalid.take() {
                Some(invalid) => Err(invalid),
                None => panic!("polled after its end"),
            },
        };
        Poll::Ready(answer.map(Response::from))
    }
}
