//! Field cases on real sockets, through a reqwest client.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use steadfast::deadline::{AttemptTimeout, AttemptTimeoutLayer};
use steadfast::idempotency::client::{KeyConfig, KeyLayer, Routes, WithKey};
use steadfast::reqwest::{Leaf, ReqwestClassify, client_builder};
use steadfast::retry::{Commit, ResponseBody, Retry, RetryConfig, RetryLayer};
use steadfast::{BoxError, Failure, Outcome, Reason, Report};
use steadfast_kit::{Chunks, ErrorCode, Http2Server, Piece, Reply, Script, ScriptedServer};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tower::{ServiceBuilder, ServiceExt};

use crate::sockets_reused::{generous, request};
use crate::stack::{answer, reset};

type Stack = WithKey<Retry<AttemptTimeout<Leaf>>>;
type Answered = Result<Response<ResponseBody<reqwest::Body>>, BoxError>;

/// The usual order, over this client.
fn over(client: reqwest::ClientBuilder, config: RetryConfig, routes: Routes) -> Stack {
    ServiceBuilder::new()
        .layer(KeyLayer::new(KeyConfig::new(routes)))
        .layer(RetryLayer::new(config.with_classify(ReqwestClassify)))
        // Long for the answers of a loopback.
        .layer(AttemptTimeoutLayer::new(Duration::from_millis(500)))
        .service(Leaf::new(client.no_proxy().build().unwrap()))
}

fn plain(config: RetryConfig) -> Stack {
    over(client_builder(), config, Routes::new())
}

fn http2() -> Stack {
    let client = client_builder().http2_prior_knowledge();
    over(client, generous(), Routes::new())
}

async fn send<B>(stack: &Stack, request: Request<B>) -> Answered
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static,
{
    stack.clone().oneshot(request).await
}

async fn text(answered: Answered) -> String {
    let body = answered.unwrap().into_body().collect().await.unwrap();
    String::from_utf8(body.to_bytes().into()).unwrap()
}

fn report(answered: Answered) -> Report {
    *Failure::find(&*answered.unwrap_err()).unwrap().report()
}

/// A reused connection that ends so at its second request; the second connection answers.
async fn over_a_dying_connection(
    end: impl FnOnce(Script) -> Script,
    method: &Method,
    keyed: bool,
) -> (Answered, usize) {
    let warm = Script::new().read().answer("200 OK", &[], "warm");
    let server = ScriptedServer::start([end(warm), answer("200 OK", &[], "done")])
        .await
        .unwrap();
    let routes = match keyed {
        true => Routes::new()
            .post(&server.addr().to_string(), "/pay")
            .unwrap(),
        false => Routes::new(),
    };
    let stack = over(client_builder(), generous(), routes);
    let warm = send(&stack, request(&Method::GET, &server.url("/warm"))).await;
    assert_eq!(text(warm).await, "warm");
    // hyper gives the connection back in a task of its own.
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    let answered = send(&stack, request(method, &server.url("/pay"))).await;
    (answered, server.connections())
}

/// O-12.
#[tokio::test]
async fn through_reqwest_a_connection_that_dies_costs_safe_and_keyed_calls_one_more_attempt() {
    for method in [Method::GET, Method::PUT, Method::DELETE] {
        let (answered, connections) = over_a_dying_connection(Script::read, &method, false).await;
        assert_eq!((text(answered).await.as_str(), connections), ("done", 2));
        let (answered, connections) =
            over_a_dying_connection(|it| it.arrival().reset(), &method, false).await;
        assert_eq!((text(answered).await.as_str(), connections), ("done", 2));
    }
    let (answered, connections) = over_a_dying_connection(Script::read, &Method::POST, true).await;
    assert_eq!((text(answered).await.as_str(), connections), ("done", 2));

    let (answered, connections) = over_a_dying_connection(Script::read, &Method::POST, false).await;
    let report = report(answered);
    assert_eq!(
        (report.attempts, report.reason, report.outcome),
        (1, Some(Reason::Unprotected), Outcome::Unknown)
    );
    assert_eq!(connections, 1);
}

/// O-12.
#[tokio::test]
async fn through_reqwest_a_refused_connection_is_tried_again_whatever_the_method() {
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/pay", free.local_addr().unwrap());
    drop(free);
    for method in [Method::GET, Method::POST] {
        let answered = send(&plain(generous()), request(&method, &url)).await;
        let report = report(answered);
        assert_eq!((report.attempts, report.outcome), (3, Outcome::NotApplied));
        assert_eq!(report.reason, Some(Reason::AttemptsExhausted));
    }
}

/// O-13, O-16.
#[tokio::test]
async fn through_reqwest_what_was_not_processed_goes_out_again_whole() {
    let refusals = [
        Reply::reset(ErrorCode::REFUSED_STREAM),
        Reply::go_away(0, ErrorCode::NO_ERROR).and_close(),
    ];
    for refusal in refusals {
        let paid = Reply::answer(201, &[], "paid");
        let server = Http2Server::start([refusal, paid]).await.unwrap();
        let mut request = request(&Method::POST, &server.url("/pay"));
        for (name, value) in [
            ("x-tag", "1"),
            ("content-digest", "sha-256=:x:"),
            ("x-tag", "2"),
        ] {
            let value = HeaderValue::from_static(value);
            request.headers_mut().append(name, value);
        }
        let answered = send(&http2(), request).await;
        assert_eq!(text(answered).await, "paid");
        let seen = server.requests();
        assert_eq!(seen.len(), 2, "once more, by the retry layer alone");
        assert_eq!(seen[1].body, "amount=1");
        if seen[0].connection != seen[1].connection {
            assert_eq!(seen[0].block, seen[1].block, "the same head, byte by byte");
        }
    }
}

/// O-13: the stream is one that the peer may have processed.
#[tokio::test]
async fn through_reqwest_a_stream_that_a_goaway_includes_is_not_sent_again() {
    let goes = Reply::go_away(1, ErrorCode::NO_ERROR).and_close();
    let server = Http2Server::start([goes]).await.unwrap();
    let answered = send(&http2(), request(&Method::POST, &server.url("/pay"))).await;
    assert_eq!(report(answered).outcome, Outcome::Unknown);
    assert_eq!(server.requests().len(), 1);
}

/// O-13: for ever, each time at once, and one time more than configured.
#[tokio::test]
async fn through_reqwest_a_peer_that_refuses_for_ever_is_not_asked_in_between() {
    let refusals = (0..20).map(|_| Reply::reset(ErrorCode::REFUSED_STREAM));
    let server = Http2Server::start(refusals).await.unwrap();
    let answered = send(&http2(), request(&Method::POST, &server.url("/pay"))).await;
    assert_eq!(report(answered).outcome, Outcome::NotApplied);
    assert_eq!(
        server.requests().len(),
        4,
        "three attempts, and one at once"
    );
}

/// O-18.
#[tokio::test]
async fn through_reqwest_a_one_shot_body_goes_out_once_and_its_answer_comes_back() {
    let busy = answer("503 Service Unavailable", &[], "busy");
    let server = ScriptedServer::start([busy.clone(), busy]).await.unwrap();
    let pieces = [Piece::data("stream"), Piece::Pending, Piece::data("ing by")];
    let put = Request::put(server.url("/"))
        .body(Chunks::new(pieces))
        .unwrap();
    let answered = send(&plain(generous().with_replay_limit(4)), put).await;
    assert_eq!(answered.as_ref().unwrap().status(), 503);
    assert_eq!(text(answered).await, "busy");
    let sent = String::from_utf8(server.requests()[0].to_vec()).unwrap();
    assert!(sent.contains("stream") && sent.contains("ing by"), "{sent}");
    assert_eq!(server.requests().len(), 1);
}

/// O-19.
#[tokio::test]
async fn through_reqwest_every_attempt_sends_the_same_bytes_with_the_same_framing() {
    let scripts = || {
        [
            answer("500 Internal Server Error", &[], ""),
            reset(),
            answer("200 OK", &[], "done"),
        ]
    };
    let ends = [
        "content-length: 3\r\n",
        "abc",
        "3\r\nab\u{20}\r\n1\r\nc\r\n0\r\n\r\n",
    ];
    for chunked in [false, true] {
        let server = ScriptedServer::start(scripts()).await.unwrap();
        let put = Request::put(server.url("/doc"));
        let stack = plain(generous());
        let answered = match chunked {
            false => send(&stack, put.body(Full::from("abc")).unwrap()).await,
            true => send(&stack, put.body(Chunks::of(["ab ", "c"])).unwrap()).await,
        };
        assert_eq!(text(answered).await, "done");
        let sent = server.requests();
        assert_eq!(sent.len(), 3);
        assert!(sent.iter().all(|it| *it == sent[0]), "{sent:?}");
        let first = String::from_utf8(sent[0].to_vec()).unwrap();
        match chunked {
            false => assert!(
                first.contains(ends[0]) && first.ends_with(ends[1]),
                "{first}"
            ),
            true => assert!(first.ends_with(ends[2]), "{first}"),
        }
    }
}

/// O-19: refused before the upload had ended.
#[tokio::test]
async fn through_reqwest_an_early_refusal_is_repeated_with_the_whole_body() {
    let early = Script::new()
        .read_head()
        .answer("503 Busy", &["connection: close"], "")
        .read_body();
    let server = ScriptedServer::start([early, answer("200 OK", &[], "done")])
        .await
        .unwrap();
    let pieces = [Piece::data("up"), Piece::Pending, Piece::data("load")];
    let put = Request::put(server.url("/doc"))
        .body(Chunks::new(pieces))
        .unwrap();
    assert_eq!(text(send(&plain(generous()), put).await).await, "done");
    let sent = server.requests();
    assert!(
        sent[1].ends_with(b"2\r\nup\r\n4\r\nload\r\n0\r\n\r\n"),
        "{sent:?}"
    );
}

/// O-20.
#[tokio::test]
async fn through_reqwest_after_the_first_byte_of_an_answer_nothing_begins_again() {
    let read = Arc::new(Notify::new());
    let half = Script::new()
        .read()
        .answer_cut("200 OK", &[], "Hello World", 1)
        .wait(&read)
        .reset();
    let whole = answer("200 OK", &[], "Hello World");
    let server = ScriptedServer::start([half, whole]).await.unwrap();
    let get = request(&Method::GET, &server.url("/file"));
    let mut body = send(&plain(generous()), get).await.unwrap().into_body();
    let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert_eq!(first, "H");
    read.notify_one();
    let error = body.frame().await.unwrap().unwrap_err();
    assert!(
        steadfast::chain(&*error).any(|it| it.is::<reqwest::Error>()),
        "{error:?}"
    );
    assert_eq!((server.requests().len(), server.connections()), (1, 1));
}

/// O-20: where answers are read whole before they are given.
#[tokio::test]
async fn through_reqwest_an_answer_that_breaks_before_it_was_given_is_asked_for_again() {
    let half = Script::new()
        .read()
        .answer_cut("200 OK", &[], "Hello World", 1);
    let server = ScriptedServer::start([half, answer("200 OK", &[], "Hello World")])
        .await
        .unwrap();
    let stack = plain(generous().with_commit(Commit::WholeBody { limit: 64 }));
    let answered = send(&stack, request(&Method::GET, &server.url("/file"))).await;
    assert_eq!(text(answered).await, "Hello World");
    assert_eq!(server.requests().len(), 2);
}

/// O-21.
#[tokio::test]
async fn through_reqwest_failed_answers_are_read_so_that_one_connection_serves_all_attempts() {
    let page = "x".repeat(8 * 1024);
    let script = Script::new()
        .read()
        .answer("503 Busy", &["retry-after: 0.02"], &page)
        .read()
        .answer("503 Busy", &["retry-after: 0.02"], &page)
        .read()
        .answer("200 OK", &[], "done");
    let server = ScriptedServer::start([script]).await.unwrap();
    let stack = plain(generous());
    let answered = send(&stack, request(&Method::GET, &server.url("/"))).await;
    assert_eq!(text(answered).await, "done");
    assert_eq!((server.requests().len(), server.connections()), (3, 1));
}

/// O-22, O-23, O-24: a call in gRPC's manner.
fn grpc(url: &str) -> Request<Full<Bytes>> {
    let post = Request::post(url).header("content-type", "application/grpc");
    post.body(Full::from("\0\0\0\0\0")).unwrap()
}

const GRPC: (&str, &str) = ("content-type", "application/grpc");

/// O-22, O-23.
#[tokio::test]
async fn through_reqwest_a_grpc_status_alone_in_the_trailers_is_repeated_and_none_after_data() {
    let unavailable = &[("grpc-status", "14")];
    for (first, requests, status) in [("", 2, "0"), ("\0\0\0\0\0", 1, "14")] {
        let replies = [
            Reply::answer_with_trailers(200, &[GRPC], first, unavailable),
            Reply::answer_with_trailers(200, &[GRPC], "", &[("grpc-status", "0")]),
        ];
        let server = Http2Server::start(replies).await.unwrap();
        let mut call = grpc(&server.url("/Greeter/Hello"));
        steadfast::CallState::edit(call.extensions_mut(), |state| {
            state.set_safety(steadfast::Safety::Idempotent);
        });
        let answer = send(&http2(), call).await.unwrap();
        let body = answer.into_body().collect().await.unwrap();
        assert_eq!(body.trailers().unwrap()["grpc-status"], status);
        assert_eq!(server.requests().len(), requests);
    }
}

/// O-24.
#[tokio::test]
async fn through_reqwest_a_negative_pushback_stops() {
    let refused = [
        GRPC,
        ("grpc-status", "14"),
        ("grpc-retry-pushback-ms", "-1"),
    ];
    let replies = (0..3).map(|_| Reply::answer(200, &refused, ""));
    let server = Http2Server::start(replies).await.unwrap();
    let answer = send(&http2(), grpc(&server.url("/Greeter/Hello")))
        .await
        .unwrap();
    assert_eq!(answer.headers()["grpc-status"], "14");
    assert_eq!(server.requests().len(), 1);
}

/// O-36: the first attempt is still being worked on when the second one comes.
#[tokio::test]
async fn through_reqwest_a_conflict_after_an_unknown_attempt_is_waited_out() {
    let server = ScriptedServer::start([
        reset(),
        answer("409 Conflict", &["retry-after: 0.002"], "in progress"),
        answer("201 Created", &["idempotent-replayed: true"], "receipt"),
    ])
    .await
    .unwrap();
    let authority = server.addr().to_string();
    let routes = Routes::new().post(&authority, "/pay").unwrap();
    let stack = over(client_builder(), generous(), routes);
    let answered = send(&stack, request(&Method::POST, &server.url("/pay"))).await;
    assert_eq!(text(answered).await, "receipt");
    let sent = server.requests();
    assert_eq!(sent.len(), 3);
    assert!(
        sent.iter().all(|it| *it == sent[0]),
        "the same key: {sent:?}"
    );

    let conflict = answer("409 Conflict", &["retry-after: 0.002"], "another one");
    let server = ScriptedServer::start([conflict]).await.unwrap();
    let authority = server.addr().to_string();
    let routes = Routes::new().post(&authority, "/pay").unwrap();
    let stack = over(client_builder(), generous(), routes);
    let answered = send(&stack, request(&Method::POST, &server.url("/pay"))).await;
    assert_eq!(text(answered).await, "another one");
    assert_eq!(server.requests().len(), 1);
}
