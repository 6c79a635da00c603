use std::future::ready;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Version};
use http_body_util::Empty;
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::{TokioExecutor, TokioIo};
use steadfast_core::{BoxError, Delivery, Reason, Rejected, Verdict};
use steadfast_hyper::LeafBody;
use steadfast_kit::{Chunks, Piece, Script, ScriptedServer};
use tokio::net::{TcpListener, TcpStream};
use tower::service_fn;

use crate::wrapped::verdict;

const UNSENT: Verdict = Verdict::Transient(Delivery::Unsent);
const UNKNOWN: Verdict = Verdict::Transient(Delivery::Unknown);
const INVALID: Verdict = Verdict::Permanent(Delivery::Unsent);

fn client() -> Client<HttpConnector, LeafBody> {
    Client::builder(TokioExecutor::new()).build_http()
}

async fn get(uri: impl AsRef<str>) -> Verdict {
    let request = Request::get(uri.as_ref())
        .body(LeafBody::default())
        .unwrap();
    verdict(client().request(request).await.unwrap_err())
}

/// The verdict on the error of a POST to a peer with this script.
async fn post(script: Script, body: LeafBody) -> Verdict {
    let server = ScriptedServer::start([script]).await.unwrap();
    let request = Request::post(server.url("/pay")).body(body).unwrap();
    let verdict = verdict(client().request(request).await.unwrap_err());
    assert_eq!(server.connections(), 1);
    verdict
}

fn body() -> LeafBody {
    LeafBody::new(http_body_util::Full::new(Bytes::from("1234")))
}

async fn closed_port() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    listener.local_addr().unwrap()
}

#[tokio::test]
async fn a_refused_connection_sent_nothing() {
    assert_eq!(
        get(format!("http://{}/", closed_port().await)).await,
        UNSENT
    );
}

#[tokio::test]
async fn a_request_that_cannot_be_sent_is_permanent() {
    let port = closed_port().await.port();
    assert_eq!(
        get(format!("ftp://127.0.0.1:{port}/")).await,
        INVALID,
        "no HTTP"
    );
    assert_eq!(
        get(format!("https://127.0.0.1:{port}/")).await,
        INVALID,
        "no TLS here"
    );
    assert_eq!(get("/no/authority").await, INVALID);

    let mut request = Request::new(LeafBody::default());
    *request.uri_mut() = format!("http://127.0.0.1:{port}/").parse().unwrap();
    *request.version_mut() = Version::HTTP_09;
    assert_eq!(
        verdict(client().request(request).await.unwrap_err()),
        INVALID
    );
}

#[tokio::test]
async fn http_2_over_a_connection_that_speaks_http_1_is_permanent() {
    let server = ScriptedServer::start([Script::new().stall()])
        .await
        .unwrap();
    let request = Request::get(server.url("/"))
        .version(Version::HTTP_2)
        .body(LeafBody::default())
        .unwrap();
    assert_eq!(
        verdict(client().request(request).await.unwrap_err()),
        INVALID
    );
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn after_the_request_was_read_nothing_is_known() {
    assert_eq!(post(Script::new().read(), body()).await, UNKNOWN, "closed");
    assert_eq!(
        post(Script::new().read().reset(), body()).await,
        UNKNOWN,
        "reset"
    );
    let half = "HTTP/1.1 200 OK\r\ncontent-le";
    assert_eq!(
        post(Script::new().read().write(half), body()).await,
        UNKNOWN,
        "half a head"
    );
}

#[tokio::test]
async fn a_peer_that_talks_garbage_may_have_acted() {
    for garbage in [
        "connection refused\r\n\r\n",
        "HTTP/1.1 999999 Hm\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\u{1}: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
    ] {
        assert_eq!(
            post(Script::new().read().write(garbage), body()).await,
            UNKNOWN,
            "{garbage}"
        );
    }
}

#[tokio::test]
async fn a_request_body_that_fails_says_nothing_about_the_peer() {
    let refused = || io::Error::from(io::ErrorKind::ConnectionRefused);
    let invalid = || Request::get("no spaces").body(()).unwrap_err();
    let errors: [BoxError; 3] = [
        Box::new(refused()),
        Box::new(invalid()),
        "of any kind".into(),
    ];
    for error in errors {
        let body = Chunks::new([Piece::data("12"), Piece::Error(error)]);
        assert_eq!(
            post(Script::new().read_head().stall(), LeafBody::new(body)).await,
            UNKNOWN
        );
    }
}

#[tokio::test]
async fn a_request_that_never_left_the_queue_is_unsent() {
    let server = ScriptedServer::start([Script::new().stall()])
        .await
        .unwrap();
    let io = TokioIo::new(TcpStream::connect(server.addr()).await.unwrap());
    let (mut sender, connection) = hyper::client::conn::http1::handshake::<_, Empty<Bytes>>(io)
        .await
        .unwrap();
    let queued = sender.send_request(Request::new(Empty::new()));
    drop(connection);
    let error = queued.await.unwrap_err();
    assert!(error.is_canceled());
    assert_eq!(verdict(error), UNSENT);

    let error = sender.ready().await.unwrap_err();
    assert!(error.is_closed());
    assert_eq!(verdict(error), UNSENT);
    let error = sender
        .send_request(Request::new(Empty::new()))
        .await
        .unwrap_err();
    assert_eq!(verdict(error), UNSENT);
}

/// The verdict where the connector fails with this error.
async fn connector<E: Into<BoxError> + 'static>(make: fn() -> E) -> Verdict {
    let connector = service_fn(move |_| ready(Err::<TokioIo<TcpStream>, BoxError>(make().into())));
    let client = Client::builder(TokioExecutor::new()).build::<_, LeafBody>(connector);
    let request = Request::get("http://a.example/")
        .body(LeafBody::default())
        .unwrap();
    verdict(client.request(request).await.unwrap_err())
}

#[tokio::test]
async fn what_failed_while_connecting_is_unsent_and_permanent_only_by_type() {
    assert_eq!(
        connector(|| io::Error::from(io::ErrorKind::TimedOut)).await,
        UNSENT
    );
    assert_eq!(
        connector(|| "certificate has expired").await,
        UNSENT,
        "text is not believed"
    );
    // What tokio's TLS streams answer when the handshake finds a wrong certificate.
    assert_eq!(
        connector(|| io::Error::new(io::ErrorKind::InvalidData, "unknown issuer")).await,
        INVALID
    );
    let nested = || io::Error::other(Arc::new(io::Error::from(io::ErrorKind::InvalidInput)));
    assert_eq!(connector(nested).await, INVALID);
    let rejected = || Rejected::new(Reason::CircuitOpen);
    assert_eq!(
        connector(rejected).await,
        Verdict::Rejected(Reason::CircuitOpen)
    );
}
