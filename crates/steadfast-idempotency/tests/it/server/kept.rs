use http::{Response, StatusCode};
use http_body_util::{BodyExt, Full};
use steadfast_core::BoxError;
use steadfast_idempotency::server::leased::AtMostOnce;
use steadfast_idempotency::server::{BODY_OMITTED, Settlement, StorePolicy, StoredBody};
use steadfast_kit::{Chunks, Piece};
use tower::ServiceExt;

use super::rig::{Got, Req, Server, answer, config, post, take};
use crate::leased::rig::Process;
use crate::leased::store::Wired;

/// A handler that charges and answers with a long receipt, in pieces or at once.
fn long(pieces: Option<usize>) -> Server<Chunks> {
    let config = config()
        .with_response_limit(10)
        .with_stored_body(StoredBody::UpToLimit);
    Server::with(config, move |request: Req| async move {
        take(&request).effects.push("charge".to_owned());
        let body = match pieces {
            None => Chunks::new([Piece::data("0123456789 and more")]),
            Some(pieces) => Chunks::new((0..pieces).map(|_| Piece::data("01234"))),
        };
        let response = Response::builder()
            .status(201)
            .header("location", "/charges/1")
            .header("content-type", "text/plain")
            .header("content-encoding", "identity");
        Ok::<_, BoxError>(response.body(body)?)
    })
}

fn assert_tombstone(got: &Got) {
    assert_eq!((got.status.as_u16(), got.is_replay()), (201, true));
    assert_eq!(got.headers["location"], "/charges/1");
    assert_eq!(got.headers[BODY_OMITTED], "true");
    assert!(got.body.is_empty());
    for name in ["content-type", "content-encoding"] {
        assert!(!got.headers.contains_key(name), "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn of_an_answer_over_the_limit_a_tombstone_is_kept_and_its_first_caller_gets_all() {
    for (pieces, whole) in [
        (None, "0123456789 and more"),
        (Some(4), "01234012340123401234"),
    ] {
        let server = long(pieces);
        let first = server.send(post("k", "x")).await;
        assert_eq!(
            (first.status.as_u16(), &first.body[..]),
            (201, whole.as_bytes())
        );
        assert!(!first.headers.contains_key(BODY_OMITTED));
        for _ in 0..2 {
            assert_tombstone(&server.send(post("k", "x")).await);
        }
        assert_eq!((server.runs(), server.store.effects().len()), (1, 1));
    }
    let server = long(Some(2));
    server.send(post("k", "x")).await;
    let again = server.send(post("k", "x")).await;
    assert_eq!(again.body, "0123401234", "at the limit it is kept whole");
    assert!(!again.headers.contains_key(BODY_OMITTED));
}

#[tokio::test(start_paused = true)]
async fn a_tombstone_commits_before_a_byte_is_sent_and_a_body_that_breaks_then_breaks_alone() {
    let config = config()
        .with_response_limit(4)
        .with_stored_body(StoredBody::UpToLimit);
    let server = Server::with(config, async |request: Req| {
        take(&request).effects.push("charge".to_owned());
        let body = Chunks::new([Piece::data("01234"), Piece::fail("reset")]);
        Ok::<_, BoxError>(Response::new(body))
    });
    let response = server
        .service
        .clone()
        .oneshot(post("k", "x"))
        .await
        .unwrap();
    assert_eq!(server.store.effects().len(), 1);
    assert!(response.into_body().collect().await.is_err());
    let again = server.send(post("k", "x")).await;
    assert_eq!(again.headers[BODY_OMITTED], "true");
    assert_eq!(server.runs(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_answer_with_secrets_is_never_kept() {
    let config = config().with_stored_body(StoredBody::Never);
    let server = Server::with(config, async |request: Req| {
        take(&request).effects.push("grant".to_owned());
        let response = Response::builder().header("location", "/tokens/1");
        Ok::<_, BoxError>(response.body(Full::from("secret token"))?)
    });
    assert_eq!(server.send(post("k", "x")).await.body, "secret token");
    let again = server.send(post("k", "x")).await;
    assert_eq!((&again.body[..], again.is_replay()), (&b""[..], true));
    assert_eq!(again.headers["location"], "/tokens/1");
    assert_eq!(again.headers[BODY_OMITTED], "true");
}

#[tokio::test(start_paused = true)]
async fn under_a_lease_a_long_answer_is_a_tombstone_since_nothing_can_be_undone() {
    let config = config().with_response_limit(4);
    let long = async |_: Req| answer(201, "a long receipt");
    let process = Process::new(&Wired::new(), AtMostOnce::new(), config, long);
    assert_eq!(process.send(post("k", "x")).await.body, "a long receipt");
    let again = process.send(post("k", "x")).await;
    assert_eq!((again.status.as_u16(), again.is_replay()), (201, true));
    assert_eq!(again.headers[BODY_OMITTED], "true");
    assert_eq!(process.runs(), 1);
}

/// Effects and runs after a request and its repeat under a policy.
async fn twice(policy: StorePolicy, status: u16) -> (usize, usize) {
    let config = config().with_store_policy(policy);
    let server = Server::with(config, move |request: Req| async move {
        take(&request).effects.push("effect".to_owned());
        answer(status, "said")
    });
    for _ in 0..2 {
        assert_eq!(server.send(post("k", "x")).await.status, status);
    }
    (server.store.effects().len(), server.runs())
}

#[tokio::test(start_paused = true)]
async fn the_preset_that_keeps_failures_keeps_500_but_not_what_says_that_it_did_not_begin() {
    for status in [400, 403, 404, 408, 422, 500, 503, 599] {
        let kept = twice(StorePolicy::keeping_failures(), status).await;
        assert_eq!(kept, (0, 1), "{status}");
    }
    for status in [401, 409, 429] {
        let kept = twice(StorePolicy::keeping_failures(), status).await;
        assert_eq!(kept, (0, 2), "{status}");
    }
    assert_eq!(twice(StorePolicy::keeping_failures(), 201).await, (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_status_can_be_said_by_hand() {
    let policy = StorePolicy::default()
        .with(StatusCode::NOT_FOUND, Settlement::Store)
        .with(StatusCode::NOT_FOUND, Settlement::Discard)
        .with(StatusCode::ACCEPTED, Settlement::Discard);
    assert_eq!(twice(policy.clone(), 404).await, (0, 2));
    assert_eq!(twice(policy.clone(), 202).await, (0, 2));
    assert_eq!(twice(policy, 200).await, (1, 1));
}

#[tokio::test(start_paused = true)]
async fn under_a_lease_a_kept_failure_ends_the_question_of_what_happened() {
    let config = config().with_store_policy(StorePolicy::keeping_failures());
    let fails = async |_: Req| answer(500, "why");
    let process = Process::new(&Wired::new(), AtMostOnce::new(), config, fails);
    for replays in [false, true, true] {
        let got = process.send(post("k", "x")).await;
        assert_eq!((got.status.as_u16(), got.is_replay()), (500, replays));
    }
    assert_eq!(process.runs(), 1);
}
