//! What reqwest does by itself, and that a client of `client_builder` does not.

use http::Request;
use steadfast_kit::{ErrorCode, Http2Server, Reply, Script, ScriptedServer};
use steadfast_reqwest::{DEFAULT_CONNECT_TIMEOUT, Leaf, client_builder};
use tower::ServiceExt;

use crate::wrapped::*;

fn keyed(url: String) -> Request<http_body_util::Full<bytes::Bytes>> {
    let request = Request::post(url).header("idempotency-key", "\"order-7\"");
    request.body(full("")).unwrap()
}

/// How many requests a peer sees that refuses each stream.
async fn requests_to_who_refuses(builder: reqwest::ClientBuilder) -> usize {
    let refusals = (0..9).map(|_| Reply::reset(ErrorCode::REFUSED_STREAM));
    let server = Http2Server::start(refusals).await.unwrap();
    let client = builder.no_proxy().http2_prior_knowledge().build().unwrap();
    let call = Leaf::new(client).oneshot(keyed(server.url("/pay")));
    call.await.unwrap_err();
    server.requests().len()
}

#[tokio::test]
async fn nothing_is_repeated_behind_the_layers() {
    assert_eq!(requests_to_who_refuses(client_builder()).await, 1);
    let by_itself = requests_to_who_refuses(reqwest::Client::builder()).await;
    assert_eq!(by_itself, 3, "what reqwest does unless it is told");
}

/// What a host that was redirected to gets to see.
async fn led_elsewhere(builder: reqwest::ClientBuilder) -> (u16, Vec<bytes::Bytes>) {
    let end = Script::new().read().answer("200 OK", &[], "elsewhere");
    let elsewhere = ScriptedServer::start([end]).await.unwrap();
    let location = format!("location: {}", elsewhere.url("/collect"));
    let away = Script::new().read().answer("307 Away", &[&location], "");
    let server = ScriptedServer::start([away]).await.unwrap();
    let client = builder.no_proxy().build().unwrap();
    let call = Leaf::new(client).oneshot(keyed(server.url("/pay")));
    let status = call.await.unwrap().status().as_u16();
    (status, elsewhere.requests())
}

#[tokio::test]
async fn a_key_is_not_carried_to_another_host() {
    let (status, seen) = led_elsewhere(client_builder()).await;
    assert_eq!((status, seen.len()), (307, 0), "the caller decides");

    let (status, seen) = led_elsewhere(reqwest::Client::builder()).await;
    let text = String::from_utf8(seen[0].to_vec()).unwrap();
    assert_eq!(status, 200);
    assert!(text.contains("idempotency-key: \"order-7\""), "{text}");
}

#[test]
fn a_connection_must_come_in_five_seconds() {
    assert_eq!(DEFAULT_CONNECT_TIMEOUT.as_secs(), 5);
    let shown = format!("{:?}", client_builder());
    assert!(shown.contains("connect_timeout: 5s"), "{shown}");
}
