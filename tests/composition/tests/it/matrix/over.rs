//! What a client's layer stands around, with a scripted peer behind it.

use std::convert::Infallible;
use std::net::Ipv4Addr;

use axum::Router;
use axum::body::Body as AxumBody;
use axum::extract::Request as Inbound;
use axum::response::Response as Answer;
use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use steadfast::BoxError;
use steadfast::reqwest::{Leaf, client_builder};
use steadfast::retry::ReplayBody;
use steadfast::tonic::Leaf as TonicLeaf;
use steadfast_kit::Chunks;
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};
use tonic::transport::{Channel, Endpoint};
use tower::util::BoxCloneService;
use tower::{Service, ServiceExt, service_fn};

use crate::pairs::peer::{Does, Peer};

/// A request's body, as the layers here leave it.
pub(super) trait Sent:
    Body<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static
{
}

impl<B: Body<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static> Sent for B {}

/// A service to stand around.
pub(super) trait Over: Sized {
    type Answer: Body<Data = Bytes, Error: Into<BoxError> + Send> + Send + Unpin + 'static;
    type Service<B: Sent>: Service<
            Request<B>,
            Response = Response<Self::Answer>,
            Error: Into<BoxError> + Send,
            Future: Send,
        > + Clone
        + Send
        + 'static;

    async fn start(list: impl IntoIterator<Item = Does>) -> Self;

    /// What the peer saw.
    fn peer(&self) -> &Peer;

    fn service<B: Sent>(&self) -> Self::Service<B>;

    /// Where it is.
    fn authority(&self) -> String {
        "a.example".to_owned()
    }

    fn plain(&self) -> Self::Service<Full<Bytes>> {
        self.service()
    }

    /// As a retry layer sends.
    fn replayed(&self) -> Self::Service<ReplayBody<Full<Bytes>>> {
        self.service()
    }

    /// This request, to this service.
    fn to(&self, request: Request<Full<Bytes>>) -> Request<Full<Bytes>> {
        let (mut head, body) = request.into_parts();
        let uri = format!("http://{}{}", self.authority(), head.uri.path());
        head.uri = uri.parse().unwrap();
        Request::from_parts(head, body)
    }
}

/// hyper-util's client, and a server of hyper's behind a real socket.
pub(super) struct Hyper {
    peer: Peer,
    authority: String,
    serving: JoinHandle<()>,
}

impl Over for Hyper {
    type Answer = Incoming;
    type Service<B: Sent> = Client<HttpConnector, B>;

    async fn start(list: impl IntoIterator<Item = Does>) -> Self {
        let peer = Peer::new(list);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let authority = listener.local_addr().unwrap().to_string();
        let serving = tokio::spawn(serve(listener, peer.clone()));
        Self {
            peer,
            authority,
            serving,
        }
    }

    fn peer(&self) -> &Peer {
        &self.peer
    }

    fn service<B: Sent>(&self) -> Client<HttpConnector, B> {
        Client::builder(TokioExecutor::new()).build_http()
    }

    fn authority(&self) -> String {
        self.authority.clone()
    }
}

impl Drop for Hyper {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// The same over HTTP/2, where all calls share a connection.
pub(super) struct Http2(Hyper);

impl Over for Http2 {
    type Answer = Incoming;
    type Service<B: Sent> = Client<HttpConnector, B>;

    async fn start(list: impl IntoIterator<Item = Does>) -> Self {
        Self(Hyper::start(list).await)
    }

    fn peer(&self) -> &Peer {
        &self.0.peer
    }

    fn service<B: Sent>(&self) -> Client<HttpConnector, B> {
        let mut client = Client::builder(TokioExecutor::new());
        client.http2_only(true).build_http()
    }

    fn authority(&self) -> String {
        self.0.authority()
    }
}

/// reqwest's client, and the same server.
pub(super) struct Reqwest(Hyper);

impl Over for Reqwest {
    type Answer = reqwest::Body;
    type Service<B: Sent> = Leaf;

    async fn start(list: impl IntoIterator<Item = Does>) -> Self {
        Self(Hyper::start(list).await)
    }

    fn peer(&self) -> &Peer {
        &self.0.peer
    }

    fn service<B: Sent>(&self) -> Leaf {
        Leaf::new(client_builder().no_proxy().build().unwrap())
    }

    fn authority(&self) -> String {
        self.0.authority()
    }
}

/// tonic's channel, before the same server: it carries any HTTP/2 request.
pub(super) struct Tonic(Hyper);

impl Over for Tonic {
    type Answer = tonic::body::Body;
    type Service<B: Sent> = TonicLeaf<Channel>;

    async fn start(list: impl IntoIterator<Item = Does>) -> Self {
        Self(Hyper::start(list).await)
    }

    fn peer(&self) -> &Peer {
        &self.0.peer
    }

    fn service<B: Sent>(&self) -> TonicLeaf<Channel> {
        let uri = format!("http://{}", self.0.authority);
        TonicLeaf::new(Endpoint::from_shared(uri).unwrap().connect_lazy())
    }

    fn authority(&self) -> String {
        self.0.authority()
    }
}

async fn serve(listener: TcpListener, peer: Peer) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let service = TowerToHyperService::new(peer.clone());
        connections.spawn(async move {
            // A client that went away ends its connection.
            let _ = auto::Builder::new(TokioExecutor::new())
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

/// A router that is called in this process.
pub(super) struct Axum(Peer);

impl Over for Axum {
    type Answer = AxumBody;
    type Service<B: Sent> = Router;

    async fn start(list: impl IntoIterator<Item = Does>) -> Self {
        Self(Peer::new(list))
    }

    fn peer(&self) -> &Peer {
        &self.0
    }

    fn service<B: Sent>(&self) -> Router {
        let peer = self.0.clone();
        let answers = service_fn(move |request: Inbound| {
            let answer = peer.clone().oneshot(request);
            async move { Ok::<Answer, Infallible>(answer.await.unwrap().map(AxumBody::new)) }
        });
        Router::new().fallback_service(answers)
    }
}

/// A function.
pub(super) struct Function(Peer);

impl Over for Function {
    type Answer = Chunks;
    type Service<B: Sent> = BoxCloneService<Request<B>, Response<Chunks>, BoxError>;

    async fn start(list: impl IntoIterator<Item = Does>) -> Self {
        Self(Peer::new(list))
    }

    fn peer(&self) -> &Peer {
        &self.0
    }

    fn service<B: Sent>(&self) -> Self::Service<B> {
        let peer = self.0.clone();
        BoxCloneService::new(service_fn(move |request| peer.clone().oneshot(request)))
    }
}
