//! Ways to serve what a server's layer stands around.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use axum::routing::Route;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};
use tower::util::BoxCloneSyncService;
use tower::{Layer, Service, ServiceBuilder, ServiceExt};

/// A handler, its type forgotten.
pub(super) type Handler = BoxCloneSyncService<Request, Response, Infallible>;

/// A service that can be served.
pub(super) trait Answers:
    Service<Request, Response: IntoResponse, Error = Infallible, Future: Send>
    + Clone
    + Send
    + Sync
    + 'static
{
}

impl<S> Answers for S
where
    S: Service<Request, Response: IntoResponse, Error = Infallible, Future: Send>,
    S: Clone + Send + Sync + 'static,
{
}

/// A layer, or a stack of them, for any of the servers.
pub(super) trait Around:
    Layer<Handler, Service: Answers> + Layer<Route, Service: Answers> + Clone + Send + Sync + 'static
{
}

impl<L> Around for L where
    L: Layer<Handler, Service: Answers>
        + Layer<Route, Service: Answers>
        + Clone
        + Send
        + Sync
        + 'static
{
}

/// A way to serve.
pub(super) trait Serves: Sized {
    async fn start(layer: impl Around, handler: Handler) -> Self;

    async fn ask(&self, request: Request) -> Response<Bytes>;
}

/// A server of hyper's on a real socket.
pub(super) struct Hyper(Listening);

impl Serves for Hyper {
    async fn start(layer: impl Around, handler: Handler) -> Self {
        let service = ServiceBuilder::new()
            .map_request(|request: Request<Incoming>| request.map(Body::new))
            .map_response(IntoResponse::into_response)
            .service(layer.layer(handler));
        let (listener, addr) = listen().await;
        let serving = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let service = TowerToHyperService::new(service.clone());
                connections.spawn(async move {
                    // A client that went away ends its connection.
                    let _ = http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        });
        Self(Listening { addr, serving })
    }

    async fn ask(&self, request: Request) -> Response<Bytes> {
        self.0.ask(request).await
    }
}

/// An axum router on a real socket, the layer around its route.
pub(super) struct Axum(Listening);

impl Serves for Axum {
    async fn start(layer: impl Around, handler: Handler) -> Self {
        let app = Router::new().route_service("/charges", handler);
        Self(Listening::to(app.route_layer(layer)).await)
    }

    async fn ask(&self, request: Request) -> Response<Bytes> {
        self.0.ask(request).await
    }
}

/// The same, the layer around the whole router.
pub(super) struct AxumWhole(Listening);

impl Serves for AxumWhole {
    async fn start(layer: impl Around, handler: Handler) -> Self {
        let app = Router::new().route_service("/charges", handler);
        Self(Listening::to(app.layer(layer)).await)
    }

    async fn ask(&self, request: Request) -> Response<Bytes> {
        self.0.ask(request).await
    }
}

/// A server of tonic's on a real socket, whose routes are axum's.
pub(super) struct Tonic(Listening);

impl Serves for Tonic {
    async fn start(layer: impl Around, handler: Handler) -> Self {
        let service = layer
            .layer(handler)
            .map_response(IntoResponse::into_response);
        let app = Router::new().route_service("/charges", Handler::new(service));
        let (listener, addr) = listen().await;
        let serving = tokio::spawn(async move {
            let incoming = tokio_stream::wrappers::TcpListenerStream::new(listener);
            let server = tonic::transport::Server::builder().add_routes(app.into());
            server.serve_with_incoming(incoming).await.unwrap();
        });
        Self(Listening { addr, serving })
    }

    async fn ask(&self, request: Request) -> Response<Bytes> {
        self.0.ask_over(request, Protocol::Http2).await
    }
}

/// No server: the service is called.
pub(super) struct Function(Handler);

impl Serves for Function {
    async fn start(layer: impl Around, handler: Handler) -> Self {
        let service = layer
            .layer(handler)
            .map_response(IntoResponse::into_response);
        Self(Handler::new(service))
    }

    async fn ask(&self, request: Request) -> Response<Bytes> {
        let Ok(answer) = self.0.clone().oneshot(request).await;
        read(answer).await
    }
}

struct Listening {
    addr: SocketAddr,
    serving: JoinHandle<()>,
}

enum Protocol {
    Http1,
    Http2,
}

impl Listening {
    async fn to(app: Router) -> Self {
        let (listener, addr) = listen().await;
        let serving = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { addr, serving }
    }

    async fn ask(&self, request: Request) -> Response<Bytes> {
        self.ask_over(request, Protocol::Http1).await
    }

    async fn ask_over(&self, mut request: Request, protocol: Protocol) -> Response<Bytes> {
        let uri = format!("http://{}{}", self.addr, request.uri().path());
        *request.uri_mut() = uri.parse().unwrap();
        let mut client = Client::builder(TokioExecutor::new());
        client.http2_only(matches!(protocol, Protocol::Http2));
        let client = client.build_http();
        read(client.request(request).await.unwrap()).await
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let addr = listener.local_addr().unwrap();
    (listener, addr)
}

async fn read<B>(answer: Response<B>) -> Response<Bytes>
where
    B: http_body::Body<Error: std::fmt::Debug>,
{
    let (head, body) = answer.into_parts();
    Response::from_parts(head, body.collect().await.unwrap().to_bytes())
}
