use std::sync::Arc;
use std::time::Duration;

use steadfast_idempotency::server::{Conflict, EngineConfig};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};
use tower::ServiceExt;

use super::rig::{Got, Req, Server, answer, charge, config, post, take};
use super::store::{Fault, Step};

const WAIT: Duration = Duration::from_secs(2);

fn engine() -> EngineConfig {
    EngineConfig::default().with_conflict(Conflict::Wait(WAIT))
}

/// A server whose handler takes so long, or is let go on.
fn gated(engine: EngineConfig) -> (Server, Arc<Notify>) {
    let gate = Arc::new(Notify::new());
    let held = Arc::clone(&gate);
    let server = Server::with(config().with_engine(engine), move |request: Req| {
        let held = Arc::clone(&held);
        async move {
            held.notified().await;
            charge(request).await
        }
    });
    (server, gate)
}

/// Sends beside the test; what it waits for is the answer.
fn send(server: &Server, body: &'static str) -> tokio::task::JoinHandle<Got> {
    let (sent, answered) = tokio::sync::oneshot::channel();
    let call = server.service.clone().oneshot(post("k", body));
    let calling = tokio::spawn(call);
    tokio::spawn(async move {
        let (parts, body) = calling.await.unwrap().unwrap().into_parts();
        let body = http_body_util::BodyExt::collect(body).await.unwrap();
        let _ = sent.send(Got {
            status: parts.status,
            headers: parts.headers,
            body: body.to_bytes(),
        });
    });
    tokio::spawn(async move { answered.await.unwrap() })
}

#[tokio::test(start_paused = true)]
async fn a_repeat_that_waits_gets_the_answer_as_soon_as_it_is_there() {
    let (server, gate) = gated(engine());
    let first = send(&server, "x");
    sleep(Duration::from_millis(10)).await;
    let waiters = [(); 8].map(|()| send(&server, "x"));
    sleep(Duration::from_millis(700)).await;
    assert!(waiters.iter().all(|waiter| !waiter.is_finished()));
    let steps = server.store.steps().len();
    sleep(Duration::from_millis(700)).await;
    assert_eq!(server.store.steps().len(), steps, "nobody polls the store");

    let start = Instant::now();
    gate.notify_one();
    assert!(!first.await.unwrap().is_replay());
    for waiter in waiters {
        let got = waiter.await.unwrap();
        assert!(got.is_replay());
        assert_eq!(got.body, "receipt 1");
    }
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert_eq!((server.runs(), server.store.effects().len()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_wait_has_an_end_and_room_for_so_many() {
    let (server, _gate) = gated(engine().with_waiters(3));
    let _first = send(&server, "x");
    sleep(Duration::from_millis(10)).await;
    let start = Instant::now();
    let waiters = [(); 3].map(|()| send(&server, "x"));
    sleep(Duration::from_millis(10)).await;
    let refused = server.send(post("k", "x")).await;
    assert_eq!(refused.refusal(), "409 in-progress, after 1");
    assert_eq!(
        start.elapsed(),
        Duration::from_millis(10),
        "a fourth waits not"
    );
    for waiter in waiters {
        let late = waiter.await.unwrap();
        assert_eq!(late.refusal(), "409 in-progress, after 1");
    }
    assert_eq!(start.elapsed(), WAIT);
    let other = server.send(post("k", "y")).await;
    assert_eq!(
        other.refusal(),
        "422 key-reused",
        "another request never waits"
    );
}

#[tokio::test(start_paused = true)]
async fn a_waiter_runs_what_the_first_did_not_keep() {
    let fails = Arc::new(std::sync::atomic::AtomicBool::new(true));
    let server = Server::with(config().with_engine(engine()), move |request: Req| {
        let fails = fails.swap(false, std::sync::atomic::Ordering::SeqCst);
        async move {
            sleep(Duration::from_millis(100)).await;
            take(&request).effects.push("charge".to_owned());
            answer(if fails { 503 } else { 201 }, "said")
        }
    });
    let first = send(&server, "x");
    sleep(Duration::from_millis(1)).await;
    let second = send(&server, "x");
    assert_eq!(first.await.unwrap().status, 503);
    let second = second.await.unwrap();
    assert_eq!((second.status.as_u16(), second.is_replay()), (201, false));
    assert_eq!((server.runs(), server.store.effects().len()), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn a_key_that_runs_in_another_process_is_looked_at_now_and_then() {
    let server = Server::with(config().with_engine(engine()), charge);
    server.store.break_next(Step::Begin, Fault::Busy);
    let start = Instant::now();
    let got = server.send(post("k", "x")).await;
    assert_eq!((got.status.as_u16(), server.runs()), (201, 1));
    let waited = start.elapsed();
    assert!(waited >= Duration::from_millis(20) && waited <= Duration::from_millis(41));
}

#[tokio::test(start_paused = true)]
async fn looks_grow_apart_and_hold_nothing_between_them() {
    let server = Server::with(config().with_engine(engine()), charge);
    server.store.stay_busy();
    let got = server.send(post("k", "x")).await;
    assert_eq!(got.refusal(), "409 in-progress, after 1");
    let begins = server
        .store
        .steps()
        .iter()
        .filter(|step| **step == Step::Begin)
        .count();
    assert!((8..=20).contains(&begins), "{begins} looks in {WAIT:?}");
    assert_eq!((server.runs(), server.store.held()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn who_hangs_up_waits_for_nothing() {
    let (server, gate) = gated(engine());
    let _first = send(&server, "x");
    sleep(Duration::from_millis(10)).await;
    let waiting = server.service.clone().oneshot(post("k", "x"));
    let hung_up = tokio::time::timeout(Duration::from_millis(10), waiting).await;
    assert!(hung_up.is_err());
    gate.notify_one();
    server.layer.drain(Duration::from_millis(1)).await.unwrap();
    assert_eq!(server.runs(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_wait_without_end_neither_spins_nor_panics() {
    let forever = EngineConfig::default().with_conflict(Conflict::Wait(Duration::MAX));
    let (server, gate) = gated(forever);
    let first = send(&server, "x");
    sleep(Duration::from_millis(10)).await;
    let waiter = send(&server, "x");
    sleep(Duration::from_secs(20)).await;
    gate.notify_one();
    first.await.unwrap();
    assert!(waiter.await.unwrap().is_replay());
}
