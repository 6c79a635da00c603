use std::convert::Infallible;
use std::io;
use std::task::{Context, Waker};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::{BodyExt, Empty, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use steadfast_core::BoxError;
use steadfast_hyper::{Leaf, LeafBody, LeafLayer};
use steadfast_kit::{Chunks, Piece, Probe, Readiness, Script, ScriptedServer, Step};
use tower::{Layer, Service, ServiceExt, service_fn};

#[tokio::test]
async fn one_client_sends_bodies_of_any_type() {
    let answer = |script: Script| script.read().answer("200 OK", &[], "ok");
    let server = ScriptedServer::start([answer(answer(answer(Script::new())))])
        .await
        .unwrap();
    let client = Client::builder(TokioExecutor::new()).build_http::<LeafBody>();
    let client = Leaf::new(client);
    let request = || Request::post(server.url("/"));

    let full = request().body(Full::new(Bytes::from("full"))).unwrap();
    let chunks = request().body(Chunks::of(["ch", "unks"])).unwrap();
    let empty = request().body(Empty::<Bytes>::new()).unwrap();
    for answer in [
        client.clone().oneshot(full).await.unwrap(),
        client.clone().oneshot(chunks).await.unwrap(),
        client.clone().oneshot(empty).await.unwrap(),
    ] {
        assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), "ok");
    }
    let sent = server.requests();
    let sent = sent
        .iter()
        .map(|bytes| String::from_utf8_lossy(bytes))
        .collect::<Vec<_>>();
    assert!(sent[0].contains("content-length: 4\r\n") && sent[0].ends_with("\r\n\r\nfull"));
    assert!(
        sent[1].ends_with("2\r\nch\r\n4\r\nunks\r\n0\r\n\r\n"),
        "{}",
        sent[1]
    );
    assert!(
        !sent[2].contains("chunked") && sent[2].ends_with("\r\n\r\n"),
        "{}",
        sent[2]
    );
}

#[tokio::test]
async fn frames_trailers_sizes_and_errors_pass() {
    let pieces = [
        Piece::data("one"),
        Piece::Pending,
        Piece::trailer("sum", "7"),
    ];
    let body = LeafBody::new(Chunks::new(pieces).with_exact_size());
    assert_eq!(
        (body.size_hint().exact(), body.is_end_stream()),
        (Some(3), false)
    );
    let collected = body.collect().await.unwrap();
    assert_eq!(collected.trailers().unwrap()["sum"], "7");
    assert_eq!(collected.to_bytes(), "one");

    let unknown = LeafBody::new(Chunks::of(["one"]));
    assert_eq!(
        (unknown.size_hint().lower(), unknown.size_hint().upper()),
        (0, None)
    );

    let reset = io::Error::from(io::ErrorKind::ConnectionReset);
    let failing = LeafBody::new(Chunks::new([Piece::fail(reset)]));
    let error = failing.collect().await.unwrap_err();
    let kind = error.downcast_ref::<io::Error>().unwrap().kind();
    assert_eq!(kind, io::ErrorKind::ConnectionReset);
}

#[tokio::test]
async fn dropping_the_request_drops_the_body_inside() {
    let body = Chunks::of(["one"]);
    let watch = body.watch();
    let probe = Probe::<Request<LeafBody>, ()>::script([Step::never()]);
    let mut call = tokio_test::task::spawn(Leaf::new(probe.clone()).oneshot(Request::new(body)));
    assert!(call.poll().is_pending());
    assert_eq!(watch.dropped(), 0);
    drop(call);
    assert_eq!((watch.dropped(), probe.cancelled()), (1, 1));
}

#[tokio::test]
async fn readiness_and_errors_are_the_clients() {
    let probe = Probe::<Request<LeafBody>, ()>::script([Step::fail("gone")])
        .with_readiness([Readiness::Later, Readiness::fail("closed")]);
    let mut leaf = Leaf::new(probe.clone());
    let request = || Request::new(Full::new(Bytes::new()));
    let ready = ServiceExt::<Request<Full<Bytes>>>::ready(&mut leaf)
        .await
        .unwrap();
    assert_eq!(probe.reserved(), 1);
    assert_eq!(ready.call(request()).await.unwrap_err().to_string(), "gone");
    assert_eq!(
        leaf.oneshot(request()).await.unwrap_err().to_string(),
        "closed"
    );
}

#[test]
fn an_empty_body_takes_no_box() {
    let answer = |_: Request<LeafBody>| std::future::ready(Ok::<_, Infallible>(Response::new(())));
    let mut leaf = LeafLayer::new().layer(service_fn(answer));
    let mut cx = Context::from_waker(Waker::noop());
    let mut count = |body: Full<Bytes>| {
        let counted = allocation_counter::measure(|| {
            let call = std::pin::pin!(leaf.call(Request::new(body)));
            assert!(Future::poll(call, &mut cx).is_ready());
        });
        counted.count_total
    };
    assert_eq!(count(Full::new(Bytes::new())), 0);
    assert_eq!(count(Full::new(Bytes::from_static(b"1234"))), 1);
}

#[test]
fn auto_traits_are_what_clients_need() {
    fn body<T: Body<Data = Bytes, Error = BoxError> + Send + Unpin + 'static>() {}
    fn service<T: Clone + Send + Sync>(_: &T) {}
    body::<LeafBody>();
    service(
        &LeafLayer::new().layer(Client::builder(TokioExecutor::new()).build_http::<LeafBody>()),
    );
}
