use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::StatusCode;
use steadfast_idempotency::server::Answer;
use steadfast_idempotency::server::leased::{AtMostOnce, Resolution, Resolver, UnknownOutcome};
use tokio::sync::Notify;

use super::rig::{Process, charge, operation, settle};
use super::store::Wired;
use crate::server::rig::{Req, answer, config, post};

const UNKNOWN: &str = "409 outcome-unknown, after 60";

/// A process that finds the key `k` with an outcome that nobody knows.
async fn finding<R: Resolver>(resolver: R) -> Process<AtMostOnce<R>> {
    let store = Wired::new();
    let failing = Process::at_most_once(&store, async |_: Req| answer(500, "why"));
    assert_eq!(failing.send(post("k", "x")).await.status, 500);
    let policy = AtMostOnce::with_resolver(resolver);
    Process::new(&store, policy, config(), charge)
}

fn applied() -> Resolution {
    Resolution::Applied(Answer::new(StatusCode::CREATED, "found"))
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_finds_the_effect_gives_every_repeat_its_answer() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let process = finding(move |unknown: UnknownOutcome| {
        count.fetch_add(1, Ordering::SeqCst);
        async move {
            assert_eq!(unknown.child("charge"), operation("k").child("charge"));
            assert_eq!((unknown.attempt, unknown.operation), (1, operation("k")));
            applied()
        }
    })
    .await;
    for _ in 0..3 {
        let got = process.send(post("k", "x")).await;
        assert_eq!((&got.body[..], got.is_replay()), (&b"found"[..], true));
        assert_eq!(got.status, 201);
    }
    assert_eq!((asked.load(Ordering::SeqCst), process.runs()), (1, 0));
    assert_eq!(process.counts().resolved, 1);
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_finds_nothing_lets_the_work_run() {
    let process = finding(async |_| Resolution::NotApplied).await;
    let got = process.send(post("k", "x")).await;
    assert_eq!((got.status.as_u16(), got.is_replay()), (201, false));
    assert!(process.send(post("k", "x")).await.is_replay());
    assert_eq!((process.runs(), process.counts().reruns), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_cannot_tell_leaves_the_outcome_unknown() {
    let process = finding(async |_| Resolution::StillUnknown).await;
    assert_eq!(process.send(post("k", "x")).await.refusal(), UNKNOWN);
    let process = finding(async |_| -> Resolution { panic!("the probe's own") }).await;
    assert_eq!(process.send(post("k", "x")).await.refusal(), UNKNOWN);
    let process = finding(async |_| -> Resolution { pending().await }).await;
    assert_eq!(process.send(post("k", "x")).await.refusal(), UNKNOWN);
    assert_eq!(process.runs(), 0);
}

#[tokio::test(start_paused = true)]
async fn one_repeat_asks_at_a_time_and_another_request_never() {
    let gate = Arc::new(Notify::new());
    let held = Arc::clone(&gate);
    let process = finding(move |_| {
        let held = Arc::clone(&held);
        async move {
            held.notified().await;
            applied()
        }
    })
    .await;
    let service = process.service.clone();
    let asking = tokio::spawn(tower::ServiceExt::oneshot(service, post("k", "x")));
    settle().await;
    let beside = process.send(post("k", "x")).await;
    assert_eq!(beside.refusal(), "409 in-progress, after 1");
    let other = process.send(post("k", "y")).await;
    assert_eq!(other.refusal(), "422 key-reused");
    gate.notify_one();
    assert_eq!(asking.await.unwrap().unwrap().status(), 201);
}

#[tokio::test(start_paused = true)]
async fn an_operator_settles_what_no_probe_can() {
    let store = Wired::new();
    let process = Process::at_most_once(&store, async |_: Req| answer(500, "why"));
    let engine = process.layer.engine();
    let key = operation("k");
    assert!(!engine.resolve(&key, applied()).await.unwrap(), "never ran");
    process.send(post("k", "x")).await;
    assert!(
        !engine
            .resolve(&key, Resolution::StillUnknown)
            .await
            .unwrap()
    );
    assert!(engine.resolve(&key, Resolution::NotApplied).await.unwrap());
    assert_eq!(
        process.send(post("k", "x")).await.status,
        500,
        "it ran again"
    );
    assert!(engine.resolve(&key, applied()).await.unwrap());
    assert!(!engine.resolve(&key, applied()).await.unwrap(), "settled");
    let got = process.send(post("k", "x")).await;
    assert_eq!((&got.body[..], got.is_replay()), (&b"found"[..], true));
    assert_eq!((process.runs(), process.counts().resolved), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn an_operator_settles_a_lost_owner_that_nobody_has_met_yet_but_no_living_one() {
    let store = Wired::new();
    let frozen = Process::at_most_once(&store, async |_: Req| pending().await);
    drop(tokio::spawn(tower::ServiceExt::oneshot(
        frozen.service.clone(),
        post("k", "x"),
    )));
    settle().await;
    let other = Process::at_most_once(&store.peer(), charge);
    let engine = other.layer.engine();
    assert!(!engine.resolve(&operation("k"), applied()).await.unwrap());
    store.die();
    tokio::time::sleep(engine.config().lease()).await;
    assert!(engine.resolve(&operation("k"), applied()).await.unwrap());
    assert!(other.send(post("k", "x")).await.is_replay());
}
