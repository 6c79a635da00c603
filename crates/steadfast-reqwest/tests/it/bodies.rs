//! Bodies on their way through the leaf.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request};
use http_body_util::{BodyExt, Empty};
use steadfast_kit::{Chunks, Piece, Script, ScriptedServer};
use tokio::sync::Notify;
use tower::ServiceExt;

use crate::wrapped::*;

#[tokio::test]
async fn bodies_of_any_type_keep_their_framing() {
    let answer = |script: Script| script.read().answer("200 OK", &[], "ok");
    let script = answer(answer(answer(Script::new())));
    let server = ScriptedServer::start([script]).await.unwrap();
    let leaf = leaf();
    let request = || Request::post(server.url("/"));

    let answers = [
        leaf.clone()
            .oneshot(request().body(full("full")).unwrap())
            .await,
        leaf.clone()
            .oneshot(request().body(Chunks::of(["ch", "unks"])).unwrap())
            .await,
        leaf.oneshot(request().body(Empty::<Bytes>::new()).unwrap())
            .await,
    ];
    for answer in answers {
        let body = answer.unwrap().into_body().collect().await.unwrap();
        assert_eq!(body.to_bytes(), "ok");
    }
    let sent = server.requests();
    let text = |n: usize| String::from_utf8(sent[n].to_vec()).unwrap();
    assert!(text(0).contains("content-length: 4\r\n") && text(0).ends_with("\r\n\r\nfull"));
    assert!(text(1).ends_with("2\r\nch\r\n4\r\nunks\r\n0\r\n\r\n"));
    assert!(!text(2).contains("chunked") && text(2).ends_with("\r\n\r\n"));
}

/// The answer's first bytes come while the rest of it, and of the request, is still to come.
#[tokio::test]
async fn bodies_stream_both_ways() {
    let go = std::sync::Arc::new(Notify::new());
    let script = Script::new()
        .read_head()
        .write("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nab")
        .wait(&go)
        .write("cd");
    let server = ScriptedServer::start([script]).await.unwrap();
    let endless = Chunks::new([Piece::data("some"), Piece::Never]);
    let request = Request::post(server.url("/")).body(endless).unwrap();
    let mut body = leaf().oneshot(request).await.unwrap().into_body();
    let first = body.frame().await.unwrap().unwrap();
    assert_eq!(first.into_data().unwrap(), "ab");
    go.notify_one();
    assert_eq!(body.collect().await.unwrap().to_bytes(), "cd");
}

#[tokio::test]
async fn trailers_of_a_request_are_sent() {
    // HTTP/1 sends those that the request announces.
    let script = Script::new().read().answer("200 OK", &[], "ok");
    let server = ScriptedServer::start([script]).await.unwrap();
    let body = Chunks::new([Piece::data("one"), Piece::trailer("sum", "7")]);
    let request = Request::post(server.url("/")).header("trailer", "sum");
    leaf().oneshot(request.body(body).unwrap()).await.unwrap();
    let sent = String::from_utf8(server.requests()[0].to_vec()).unwrap();
    assert!(sent.ends_with("3\r\none\r\n0\r\nsum: 7\r\n\r\n"), "{sent}");
}

#[tokio::test]
async fn dropping_the_call_drops_the_body_and_ends_the_exchange() {
    let script = Script::new().read_head().stall();
    let server = ScriptedServer::start([script]).await.unwrap();
    let body = Chunks::new([Piece::data("some"), Piece::Never]);
    let watch = body.watch();
    let request = Request::post(server.url("/")).body(body).unwrap();
    let call = tokio::spawn(leaf().oneshot(request));
    while server.requests().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(watch.dropped(), 0);
    call.abort();
    call.await.unwrap_err();
    // hyper drops it in the connection's task.
    while watch.dropped() == 0 {
        tokio::task::yield_now().await;
    }
}

/// Every part of the head goes out as it was given.
#[tokio::test]
async fn the_head_is_the_callers() {
    let script = Script::new().read().answer("200 OK", &["x-back: 1"], "ok");
    let server = ScriptedServer::start([script]).await.unwrap();
    let mut request = Request::put(server.url("/a%20b?c=d%26e"))
        .body(full("1"))
        .unwrap();
    let mut headers = HeaderMap::new();
    headers.append("x-tag", HeaderValue::from_static("1"));
    headers.append("x-tag", HeaderValue::from_static("2"));
    request.headers_mut().extend(headers);
    let answer = leaf().oneshot(request).await.unwrap();
    assert_eq!(answer.headers()["x-back"], "1");
    let sent = String::from_utf8(server.requests()[0].to_vec()).unwrap();
    assert!(
        sent.starts_with("PUT /a%20b?c=d%26e HTTP/1.1\r\n"),
        "{sent}"
    );
    assert!(sent.contains("x-tag: 1\r\nx-tag: 2\r\n"), "{sent}");
}
