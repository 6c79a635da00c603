//! A body that streams by and cannot be sent again (O-18), on a real connection.

use http::Request;
use steadfast::Reason;
use steadfast::idempotency::client::Routes;
use steadfast_kit::{Chunks, Piece, ScriptedServer};

use crate::stack::*;

/// More than is kept.
fn streaming(url: &str) -> Request<Chunks> {
    let pieces = [Piece::data("stream"), Piece::Pending, Piece::data("ing by")];
    Request::put(url).body(Chunks::new(pieces)).unwrap()
}

#[tokio::test]
async fn a_one_shot_body_goes_out_once_and_its_answer_comes_back() {
    let ends = Ends::default();
    let stack = stack(ends.of(config().with_replay_limit(4)), Routes::new());

    let server = ScriptedServer::start([answer("200 OK", &[], "got it")])
        .await
        .unwrap();
    let answered = send(&stack, streaming(&server.url("/"))).await;
    assert_eq!(text(answered).await, "got it");
    let sent = String::from_utf8(server.requests()[0].to_vec()).unwrap();
    assert!(sent.contains("stream") && sent.contains("ing by"), "{sent}");

    let busy = answer("503 Service Unavailable", &[], "busy");
    let server = ScriptedServer::start([busy.clone(), busy]).await.unwrap();
    let answered = send(&stack, streaming(&server.url("/"))).await;
    assert_eq!(answered.as_ref().unwrap().status(), 503);
    assert_eq!(text(answered).await, "busy");
    assert_eq!(server.requests().len(), 1);
    assert_eq!(
        ends.seen(),
        [None, Some(Reason::BodyNotReplayable)],
        "and it is seen"
    );
}
