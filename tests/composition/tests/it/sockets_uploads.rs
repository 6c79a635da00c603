//! Answers that come before the request has ended.

use std::sync::Arc;

use http::Request;
use steadfast::idempotency::client::Routes;
use steadfast_kit::{Chunks, Piece, Script, ScriptedServer};
use tokio::sync::Notify;

use crate::sockets_reused::generous;
use crate::stack::*;

/// A PUT whose second half comes when `rest` is notified.
fn upload(server: &ScriptedServer, rest: &Arc<Notify>) -> Request<Chunks> {
    let pieces = [
        Piece::data("first,"),
        Piece::Wait(Arc::clone(rest)),
        Piece::data("second"),
    ];
    Request::put(server.url("/doc"))
        .body(Chunks::new(pieces))
        .unwrap()
}

const WHOLE: &[u8] = b"6\r\nfirst,\r\n6\r\nsecond\r\n0\r\n\r\n";

/// The rest of the body does not exist yet when the first attempt has failed.
#[tokio::test]
async fn a_refusal_before_the_upload_has_ended_is_repeated_with_the_whole_body() {
    let rest = Arc::new(Notify::new());
    let early =
        Script::new()
            .read_head()
            .answer("503 Service Unavailable", &["connection: close"], "busy");
    let whole = Script::new()
        .read_head()
        .notify(&rest)
        .read_body()
        .answer("200 OK", &[], "done");
    let server = ScriptedServer::start([early, whole]).await.unwrap();
    let stack = stack(generous(), Routes::new());
    let answered = send(&stack, upload(&server, &rest)).await;
    assert_eq!(text(answered).await, "done");
    let sent = server.requests();
    assert_eq!((sent.len(), server.connections()), (2, 2));
    assert!(sent[1].ends_with(WHOLE), "{sent:?}");
}

#[tokio::test]
async fn an_answer_is_handed_on_while_the_upload_goes_on() {
    let rest = Arc::new(Notify::new());
    let read = Arc::new(Notify::new());
    let script = Script::new()
        .read_head()
        .answer("200 OK", &[], "early")
        .read_body()
        .notify(&read);
    let server = ScriptedServer::start([script]).await.unwrap();
    let stack = stack(generous(), Routes::new());
    let response = send(&stack, upload(&server, &rest)).await.unwrap();
    assert_eq!(response.status(), 200);
    rest.notify_one();
    assert_eq!(text(Ok(response)).await, "early");
    let bound = std::time::Duration::from_secs(10);
    tokio::time::timeout(bound, read.notified()).await.unwrap();
    let sent = server.requests();
    assert_eq!(sent.len(), 1);
    assert!(sent[0].ends_with(WHOLE), "{sent:?}");
}
