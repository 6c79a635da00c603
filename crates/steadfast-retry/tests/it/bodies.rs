use std::io;
use std::sync::{Arc, Mutex};

use http_body_util::BodyExt;
use steadfast_core::{Reason, Safety};
use steadfast_kit::{Chunks, Piece, Step};
use steadfast_retry::Superseded;

use crate::stack::*;

fn streaming(text: &[&str]) -> Chunks {
    Chunks::new(text.iter().flat_map(|part| [Piece::Pending, chunk(part)]))
}

/// O-18: a stream that cannot be cloned goes out once.
#[tokio::test(start_paused = true)]
async fn a_one_shot_body_is_sent_once_and_its_answer_returned() {
    let bodies = Arc::default();
    let events = Events::default();
    let config = || events.observe(config().with_replay_limit(4));
    let (retry, probe) = stack(config(), vec![reading(&bodies, Ok(ok("done")))]);
    let request = || with_safety(post(streaming(&["too", "long"])), Safety::Idempotent);
    assert_eq!(text(run(&retry, request()).await.unwrap()).await, "done");
    assert_eq!(probe.calls(), 1);

    let (retry, probe) = stack(config(), vec![reading(&bodies, Ok(unavailable()))]);
    let answered = run(&retry, request()).await;
    assert_eq!(reason(&answered), Some(Reason::BodyNotReplayable));
    assert_eq!(text(answered.unwrap()).await, "unavailable");
    assert_eq!(probe.calls(), 1);
    assert_eq!(*bodies.lock().unwrap(), ["toolong", "toolong"]);
    let ends = events.ends();
    assert_eq!(ends[1].0, Some(Reason::BodyNotReplayable), "and it is seen");
}

/// O-19: the same bytes on each attempt.
#[tokio::test(start_paused = true)]
async fn every_attempt_sends_the_whole_body() {
    let bodies: Arc<Mutex<Vec<_>>> = Arc::default();
    let script = vec![
        reading(&bodies, Ok(unavailable())),
        reset(),
        reading(&bodies, Ok(ok("done"))),
    ];
    let (retry, _) = stack(config(), script);
    let request = with_safety(post(streaming(&["ab", "c", "def"])), Safety::Idempotent);
    assert_eq!(text(run(&retry, request).await.unwrap()).await, "done");
    assert_eq!(*bodies.lock().unwrap(), ["abcdef", "abcdef"]);
}

/// The first attempt's body is still held by its connection when the second one is sent.
#[tokio::test(start_paused = true)]
async fn a_body_held_by_a_broken_connection_takes_nothing_from_the_next_attempt() {
    let held = Arc::new(Mutex::new(None));
    let keep = held.clone();
    let half = Step::call(move |request: Sent| async move {
        let mut body = request.into_body();
        let first = body.frame().await.unwrap().unwrap();
        assert_eq!(first.into_data().unwrap(), "ab");
        *keep.lock().unwrap() = Some(body);
        Err(io::Error::from(io::ErrorKind::ConnectionReset).into())
    });
    let bodies = Arc::default();
    let (retry, _) = stack(config(), vec![half, reading(&bodies, Ok(ok("done")))]);
    let request = with_safety(post(streaming(&["ab", "cd"])), Safety::Idempotent);
    assert_eq!(text(run(&retry, request).await.unwrap()).await, "done");
    assert_eq!(*bodies.lock().unwrap(), ["abcd"]);
    let mut stale = held.lock().unwrap().take().unwrap();
    let error = stale.frame().await.unwrap().unwrap_err();
    assert!(error.is::<Superseded>(), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_body_that_fails_itself_ends_the_call_with_its_error() {
    let bodies = Arc::default();
    let (retry, probe) = stack(config(), vec![reading(&bodies, Ok(ok("")))]);
    let broken = Chunks::new([chunk("ab"), Piece::fail(io::Error::other("disk"))]);
    let answered = run(&retry, with_safety(post(broken), Safety::Idempotent)).await;
    assert_eq!(reason(&answered), Some(Reason::BodyNotReplayable));
    let error = answered.unwrap_err();
    assert!(steadfast_core::chain(&*error).any(|cause| cause.to_string() == "disk"));
    assert_eq!(probe.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_source_is_dropped_once_when_the_call_is_dropped() {
    let body = streaming(&["ab"]);
    let watch = body.watch();
    let (retry, probe) = stack(config(), vec![reset(), Step::never()]);
    let request = with_safety(post(body), Safety::Idempotent);
    let patience = std::time::Duration::from_secs(1);
    assert!(
        tokio::time::timeout(patience, run(&retry, request))
            .await
            .is_err()
    );
    assert_eq!(probe.calls(), 2);
    assert_eq!(watch.dropped(), 1);
}
