//! What an HTTP/1 peer, or none, makes of a call.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Version};
use http_body::Body;
use http_body_util::BodyExt;
use steadfast_core::{BoxError, Reason, Rejected, Verdict};
use steadfast_kit::{Chunks, Piece, Script, ScriptedServer};
use steadfast_reqwest::{Leaf, client_builder};
use tower::{ServiceExt, service_fn};

use crate::wrapped::*;

async fn get(uri: impl AsRef<str>) -> Verdict {
    let request = Request::get(uri.as_ref()).body(full("")).unwrap();
    verdict(leaf().oneshot(request).await.unwrap_err())
}

/// The verdict on the error of a POST to a peer with this script.
async fn post<B>(script: Script, body: B) -> Verdict
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    let server = ScriptedServer::start([script]).await.unwrap();
    let request = Request::post(server.url("/pay")).body(body).unwrap();
    let verdict = verdict(leaf().oneshot(request).await.unwrap_err());
    assert_eq!(server.connections(), 1, "reqwest itself sent it once");
    verdict
}

#[tokio::test]
async fn a_refused_connection_sent_nothing() {
    let refused = get(format!("http://{}/", closed_port().await)).await;
    assert_eq!(refused, UNSENT);
}

#[tokio::test]
async fn a_request_that_cannot_be_sent_is_permanent() {
    let port = closed_port().await.port();
    let other = get(format!("ftp://127.0.0.1:{port}/")).await;
    assert_eq!(other, INVALID, "no HTTP");
    let secure = get(format!("https://127.0.0.1:{port}/")).await;
    assert_eq!(secure, INVALID, "no TLS in this build");
    assert_eq!(get("/no/authority").await, INVALID);

    let mut request = Request::new(full(""));
    *request.uri_mut() = format!("http://127.0.0.1:{port}/").parse().unwrap();
    *request.version_mut() = Version::HTTP_09;
    assert_eq!(verdict(leaf().oneshot(request).await.unwrap_err()), INVALID);
}

#[tokio::test]
async fn after_the_request_was_read_nothing_is_known() {
    let read = || Script::new().read();
    assert_eq!(post(read(), full("1234")).await, UNKNOWN, "closed");
    assert_eq!(post(read().reset(), full("1234")).await, UNKNOWN, "reset");
    let half = read().write("HTTP/1.1 200 OK\r\ncontent-le");
    assert_eq!(post(half, full("1234")).await, UNKNOWN, "half a head");
    let garbage = read().write("connection refused\r\n\r\n");
    assert_eq!(post(garbage, full("1234")).await, UNKNOWN, "garbage");
}

#[tokio::test]
async fn a_request_body_that_fails_says_nothing_about_the_peer() {
    let refused = || io::Error::from(io::ErrorKind::ConnectionRefused);
    let invalid = || Request::get("no spaces").body(()).unwrap_err();
    let builder = || reqwest::Client::new().get("no url").build().unwrap_err();
    let errors: [BoxError; 4] = [
        Box::new(refused()),
        Box::new(invalid()),
        Box::new(builder()),
        "of any kind".into(),
    ];
    for error in errors {
        let text = error.to_string();
        let body = Chunks::new([Piece::data("12"), Piece::Error(error)]);
        let stalls = Script::new().read_head().stall();
        assert_eq!(post(stalls, body).await, UNKNOWN, "{text}");
    }
}

/// Each of reqwest's own times; the peer takes the connection and says nothing.
#[tokio::test]
async fn a_time_of_reqwests_that_ends_a_call_leaves_it_unknown() {
    let soon = Duration::from_millis(50);
    let total = client_builder().no_proxy().timeout(soon).build().unwrap();
    let read = client_builder()
        .no_proxy()
        .read_timeout(soon)
        .build()
        .unwrap();
    for client in [total, read] {
        let script = Script::new().read().stall();
        let server = ScriptedServer::start([script]).await.unwrap();
        let request = Request::post(server.url("/pay")).body(full("1")).unwrap();
        let error = Leaf::new(client).oneshot(request).await.unwrap_err();
        assert!(error.is_timeout());
        assert_eq!(verdict(error), UNKNOWN);
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_does_not_come_in_time_sent_nothing() {
    // A connector that hangs, below reqwest's own limit on it.
    let hangs =
        tower::layer::layer_fn(|_| service_fn(|_| std::future::pending::<Result<_, BoxError>>()));
    let client = client_builder().no_proxy().connector_layer(hangs);
    let client = client
        .connect_timeout(Duration::from_secs(2))
        .build()
        .unwrap();
    let started = tokio::time::Instant::now();
    let request = Request::post("http://127.0.0.1:9/pay")
        .body(full("1"))
        .unwrap();
    let error = Leaf::new(client).oneshot(request).await.unwrap_err();
    assert!(error.is_timeout() && error.is_connect());
    assert_eq!(verdict(error), UNSENT);
    assert_eq!(started.elapsed(), Duration::from_secs(2));
}

/// The verdict where the connector fails with this error.
async fn connector<E: Into<BoxError> + 'static>(make: fn() -> E) -> Verdict {
    let fails = tower::layer::layer_fn(move |_| {
        service_fn(move |_| std::future::ready(Err::<_, BoxError>(make().into())))
    });
    let client = client_builder().no_proxy().connector_layer(fails);
    let request = Request::get("http://127.0.0.1:9/").body(full("")).unwrap();
    let leaf = Leaf::new(client.build().unwrap());
    verdict(leaf.oneshot(request).await.unwrap_err())
}

#[tokio::test]
async fn what_failed_while_connecting_is_unsent_and_permanent_only_by_type() {
    let timed_out = || io::Error::from(io::ErrorKind::TimedOut);
    assert_eq!(connector(timed_out).await, UNSENT);
    let text = || "certificate has expired";
    assert_eq!(connector(text).await, UNSENT, "text is not believed");
    // What tokio's TLS streams answer when the handshake finds a wrong certificate.
    let issuer = || io::Error::new(io::ErrorKind::InvalidData, "unknown issuer");
    assert_eq!(connector(issuer).await, INVALID);
    let rejected = || Rejected::new(Reason::CircuitOpen);
    let refused = Verdict::Rejected(Reason::CircuitOpen);
    assert_eq!(connector(rejected).await, refused);
}

#[tokio::test]
async fn a_body_that_breaks_off_is_unknown_whatever_broke_it() {
    let cut = Script::new()
        .read()
        .answer_cut("200 OK", &[], "Hello World", 5);
    let server = ScriptedServer::start([cut]).await.unwrap();
    let request = Request::get(server.url("/file")).body(full("")).unwrap();
    let answer = leaf().oneshot(request).await.unwrap();
    let error = answer.into_body().collect().await.unwrap_err();
    assert!(error.is_body());
    assert_eq!(verdict(error), UNKNOWN);
}
