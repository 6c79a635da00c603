//! Bodies longer than the call that fetched them, on real sockets.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, header};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use steadfast::deadline::{BodyTimeoutLayer, CallLimitLayer, PropagateLayer, TimedBody};
use steadfast::{BoxError, Cut, Elapsed};
use steadfast_kit::{Script, ScriptedServer};
use tokio::io::AsyncReadExt;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};
use tower::{ServiceBuilder, ServiceExt};

const MS: Duration = Duration::from_millis(1);
const CALL: Duration = Duration::from_millis(100);

type Hyper = Client<HttpConnector, Full<Bytes>>;

fn http1() -> Hyper {
    Client::builder(TokioExecutor::new()).build_http()
}

async fn send(
    client: Hyper,
    bodies: BodyTimeoutLayer,
    request: Request<Full<Bytes>>,
) -> Result<Response<TimedBody<Incoming>>, BoxError> {
    ServiceBuilder::new()
        .layer(CallLimitLayer::new(CALL))
        .layer(bodies)
        .layer(PropagateLayer::default())
        .service(client)
        .oneshot(request)
        .await
}

fn get(url: &str) -> Request<Full<Bytes>> {
    Request::get(url).body(Full::default()).unwrap()
}

const HEAD: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

#[tokio::test]
async fn a_download_longer_than_the_call_survives_while_bytes_flow() {
    let next = Arc::new(Notify::new());
    let mut script = Script::new().read().write(HEAD);
    for _ in 0..6 {
        script = script.wait(&next).write("1\r\nx\r\n");
    }
    let server = ScriptedServer::start([script.write("0\r\n\r\n")])
        .await
        .unwrap();
    let start = Instant::now();
    let bodies = BodyTimeoutLayer::default().with_idle(2_000 * MS);
    let mut body = send(http1(), bodies, get(&server.url("/")))
        .await
        .unwrap()
        .into_body();
    for _ in 0..6 {
        sleep(CALL / 4).await;
        next.notify_one();
        assert_eq!(
            body.frame().await.unwrap().unwrap().into_data().unwrap(),
            "x"
        );
    }
    assert!(body.frame().await.is_none());
    assert!(start.elapsed() > CALL);
}

#[tokio::test]
async fn a_download_that_stalls_ends_by_the_idle_limit() {
    let script = Script::new().read().write(HEAD).write("1\r\nx\r\n").stall();
    let server = ScriptedServer::start([script]).await.unwrap();
    let bodies = BodyTimeoutLayer::default().with_idle(30 * MS);
    let mut body = send(http1(), bodies, get(&server.url("/")))
        .await
        .unwrap()
        .into_body();
    assert!(body.frame().await.unwrap().is_ok());
    let error = body.frame().await.unwrap().unwrap_err();
    assert_eq!(
        Elapsed::find(&*error),
        Some(&Elapsed::new(30 * MS, Cut::BodyIdle))
    );
    assert!(body.frame().await.is_none());
}

#[tokio::test]
async fn an_upgrade_is_left_alone_when_its_call_has_ended() {
    let go = Arc::new(Notify::new());
    let script = Script::new()
        .read()
        .write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n")
        .wait(&go)
        .write("late");
    let server = ScriptedServer::start([script]).await.unwrap();
    let bodies = BodyTimeoutLayer::default()
        .with_idle(10 * MS)
        .with_total(20 * MS);
    let mut request = get(&server.url("/"));
    request
        .headers_mut()
        .insert(header::CONNECTION, "upgrade".parse().unwrap());
    request
        .headers_mut()
        .insert(header::UPGRADE, "echo".parse().unwrap());
    let answer = send(http1(), bodies, request).await.unwrap();
    assert_eq!(answer.status(), 101);
    let mut io = TokioIo::new(hyper::upgrade::on(answer).await.unwrap());
    sleep(CALL + 20 * MS).await;
    go.notify_one();
    let mut bytes = [0; 4];
    io.read_exact(&mut bytes).await.unwrap();
    assert_eq!(&bytes, b"late");
}

#[tokio::test]
async fn a_grpc_stream_ends_by_the_calls_deadline() {
    let head = HEAD.replace("\r\n\r\n", "\r\ncontent-type: application/grpc\r\n\r\n");
    let script = Script::new().read().write(head).write("1\r\nx\r\n").stall();
    let server = ScriptedServer::start([script]).await.unwrap();
    let mut request = get(&server.url("/feed.Feed/Watch"));
    let kind = "application/grpc".parse().unwrap();
    request.headers_mut().insert(header::CONTENT_TYPE, kind);
    let start = Instant::now();
    let mut body = send(http1(), BodyTimeoutLayer::default(), request)
        .await
        .unwrap()
        .into_body();
    assert!(body.frame().await.unwrap().is_ok());
    let error = body.frame().await.unwrap().unwrap_err();
    assert_eq!(
        Elapsed::find(&*error).map(Elapsed::cut),
        Some(Cut::Deadline)
    );
    assert!(start.elapsed() >= CALL);
    let sent = String::from_utf8(server.requests()[0].to_vec()).unwrap();
    let told = sent
        .lines()
        .find_map(|line| line.strip_prefix("grpc-timeout: "));
    assert_eq!(told, Some("100000u"));
}
