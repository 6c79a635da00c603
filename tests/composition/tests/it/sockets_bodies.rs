//! Bodies of requests and of answers over several attempts, byte by byte.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::{BodyExt, Full};
use steadfast::idempotency::client::Routes;
use steadfast::retry::Commit;
use steadfast::{Backoff, Failure, Jitter, Reason, Report};
use steadfast_kit::{Chunks, Piece, Script, ScriptedServer};
use tokio::sync::Notify;

use crate::sockets_reused::{generous, request};
use crate::stack::*;

const UNAVAILABLE: &str = "503 Service Unavailable";

/// A wait that is long enough to read a failed answer, and no draw.
fn waiting() -> Backoff {
    let wait = Duration::from_millis(20);
    Backoff::default()
        .with_base(wait)
        .with_cap(wait)
        .with_jitter(Jitter::None)
}

fn put<B>(url: &str, body: B) -> Request<B> {
    Request::put(url).body(body).unwrap()
}

fn chunks(parts: &[&'static str]) -> Chunks {
    Chunks::new(
        parts
            .iter()
            .flat_map(|part| [Piece::Pending, Piece::data(*part)]),
    )
}

/// O-19.
#[tokio::test]
async fn every_attempt_sends_the_same_bytes_with_the_same_framing() {
    let scripts = || {
        [
            answer("500 Internal Server Error", &[], ""),
            answer(UNAVAILABLE, &[], ""),
            answer("200 OK", &[], "done"),
        ]
    };
    let server = ScriptedServer::start(scripts()).await.unwrap();
    let body = Full::from("twenty-seven bytes of body!");
    let answered = send(&plain(generous()), put(&server.url("/doc"), body)).await;
    assert_eq!(text(answered).await, "done");
    let sent = server.requests();
    assert_eq!(sent.len(), 3);
    let first = String::from_utf8(sent[0].to_vec()).unwrap();
    assert!(first.contains("content-length: 27\r\n"), "{first}");
    assert!(
        first.ends_with("\r\n\r\ntwenty-seven bytes of body!"),
        "{first}"
    );
    assert!(sent.iter().all(|it| *it == sent[0]), "{sent:?}");

    let server = ScriptedServer::start(scripts()).await.unwrap();
    let stack = stack(generous(), Routes::new());
    let answered = send(
        &stack,
        put(&server.url("/doc"), chunks(&["ab", "cde", "f"])),
    )
    .await;
    assert_eq!(text(answered).await, "done");
    let sent = server.requests();
    assert_eq!(sent.len(), 3);
    let first = String::from_utf8(sent[0].to_vec()).unwrap();
    assert!(first.contains("transfer-encoding: chunked\r\n"), "{first}");
    assert!(
        first.ends_with("\r\n\r\n2\r\nab\r\n3\r\ncde\r\n1\r\nf\r\n0\r\n\r\n"),
        "{first}"
    );
    assert!(sent.iter().all(|it| *it == sent[0]), "{sent:?}");
}

/// O-19: one byte above the limit.
#[tokio::test]
async fn a_body_over_the_replay_limit_goes_out_whole_once() {
    let scripts = || {
        [
            answer(UNAVAILABLE, &[], "busy"),
            answer("200 OK", &[], "done"),
        ]
    };
    for (limit, requests, last) in [(6, 2, "done"), (5, 1, "busy")] {
        let server = ScriptedServer::start(scripts()).await.unwrap();
        let stack = stack(generous().with_replay_limit(limit), Routes::new());
        let answered = send(
            &stack,
            put(&server.url("/doc"), chunks(&["ab", "cde", "f"])),
        )
        .await;
        let report: Report = *answered.as_ref().unwrap().extensions().get().unwrap();
        let reason = (requests == 1).then_some(Reason::BodyNotReplayable);
        assert_eq!(report.reason, reason, "limit {limit}");
        assert_eq!(text(answered).await, last, "limit {limit}");
        assert_eq!(server.requests().len(), requests, "limit {limit}");
        for sent in server.requests() {
            assert!(
                sent.ends_with(b"2\r\nab\r\n3\r\ncde\r\n1\r\nf\r\n0\r\n\r\n"),
                "{sent:?}"
            );
        }
    }
}

/// O-20.
#[tokio::test]
async fn after_the_first_byte_of_an_answer_nothing_begins_again() {
    let read = Arc::new(Notify::new());
    let half = Script::new()
        .read()
        .answer_cut("200 OK", &[], "Hello World", 1)
        .wait(&read)
        .reset();
    let whole = answer("200 OK", &[], "Hello World");
    let server = ScriptedServer::start([half, whole]).await.unwrap();
    let answered = send(
        &plain(generous()),
        request(&Method::GET, &server.url("/file")),
    )
    .await;
    let mut body = answered.unwrap().into_body();
    let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert_eq!(first, "H");
    read.notify_one();
    let error = body.frame().await.unwrap().unwrap_err();
    assert!(!error.to_string().is_empty());
    assert_eq!((server.requests().len(), server.connections()), (1, 1));
}

/// O-20: where answers are read whole before they are given.
#[tokio::test]
async fn an_answer_that_breaks_before_any_of_it_was_given_is_asked_for_again() {
    let scripts = || {
        let half = Script::new()
            .read()
            .answer_cut("200 OK", &[], "Hello World", 1);
        [half, answer("200 OK", &[], "Hello World")]
    };
    let config = || generous().with_commit(Commit::WholeBody { limit: 64 });
    let server = ScriptedServer::start(scripts()).await.unwrap();
    let stack = plain(config());
    let answered = send(&stack, request(&Method::GET, &server.url("/file"))).await;
    assert_eq!(text(answered).await, "Hello World");
    assert_eq!(server.requests().len(), 2);

    let server = ScriptedServer::start(scripts()).await.unwrap();
    let answered = send(
        &plain(config()),
        request(&Method::POST, &server.url("/pay")),
    )
    .await;
    if let Ok(answer) = answered {
        answer.into_body().collect().await.unwrap_err();
    }
    assert_eq!(server.requests().len(), 1, "a POST may have had its effect");
}

/// O-21.
#[tokio::test]
async fn failed_answers_are_read_so_that_one_connection_serves_all_attempts() {
    let page = "x".repeat(8 * 1024);
    let script = Script::new()
        .read()
        .answer(UNAVAILABLE, &[], &page)
        .read()
        .answer(UNAVAILABLE, &[], &page)
        .read()
        .answer("200 OK", &[], "done");
    let server = ScriptedServer::start([script]).await.unwrap();
    let stack = plain(generous().with_backoff(waiting()));
    let answered = send(&stack, request(&Method::GET, &server.url("/"))).await;
    assert_eq!(text(answered).await, "done");
    assert_eq!((server.requests().len(), server.connections()), (3, 1));
}

/// O-21.
#[tokio::test]
async fn an_endless_failed_answer_is_left_behind() {
    let head = format!("HTTP/1.1 {UNAVAILABLE}\r\n\r\n");
    let endless = Script::new()
        .read()
        .write(head)
        .endless(Bytes::from(vec![b'x'; 4096]));
    let server = ScriptedServer::start([endless, answer("200 OK", &[], "done")])
        .await
        .unwrap();
    let stack = plain(generous().with_backoff(waiting()));
    let answered = send(&stack, request(&Method::GET, &server.url("/"))).await;
    assert_eq!(text(answered).await, "done");
    assert_eq!((server.requests().len(), server.connections()), (2, 2));
}

/// Half a head says nothing about what the peer did.
#[tokio::test]
async fn an_answer_cut_in_its_head_is_an_unknown_outcome() {
    let cut = Script::new().read().write("HTTP/1.1 200 OK\r\ncontent-le");
    let server = ScriptedServer::start([cut]).await.unwrap();
    let error = send(&plain(generous()), request(&Method::POST, &server.url("/")))
        .await
        .unwrap_err();
    let report = Failure::find(&*error).unwrap().report();
    assert_eq!(
        (report.attempts, report.reason),
        (1, Some(Reason::Unprotected))
    );
    assert_eq!(server.requests().len(), 1);
}
