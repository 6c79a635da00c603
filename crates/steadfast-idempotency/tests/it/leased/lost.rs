use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use steadfast_idempotency::server::EngineConfig;
use steadfast_idempotency::server::leased::{AtMostOnce, LeasePolicy, Leased, Reentrant};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};
use tower::ServiceExt;

use super::rig::{Process, charge, gated, lease, settle};
use super::store::{Fault, Step, Wired};
use crate::server::rig::{Handler, Req, answer, config, post};

const LEASE: Duration = Duration::from_secs(60);

fn engine() -> EngineConfig {
    EngineConfig::default()
        .with_lease(LEASE)
        .with_work_limit(Duration::from_secs(3600))
}

fn process<P: LeasePolicy>(store: &Wired, policy: P, gate: &Arc<Notify>) -> Process<P> {
    Process::new(store, policy, config().with_engine(engine()), gated(gate))
}

/// A request of a process that dies while it works on it.
async fn die_at_work<P: LeasePolicy>(store: &Wired, policy: P) -> Process<P> {
    let process = process(store, policy, &Arc::default());
    drop(tokio::spawn(oneshot(&process)));
    settle().await;
    assert_eq!(process.runs(), 1);
    store.die();
    process
}

fn oneshot<P: LeasePolicy>(process: &Process<P>) -> Oneshot<P> {
    process.service.clone().oneshot(post("k", "x"))
}

type Oneshot<P> = tower::util::Oneshot<Leased<Handler<Full<Bytes>>, Wired, P>, Req>;

#[tokio::test(start_paused = true)]
async fn the_claim_of_a_dead_worker_ends_with_its_lease_and_one_takes_over() {
    let store = Wired::new();
    let dead = die_at_work(&store, Reentrant).await;
    let alive = Process::reentrant(&store.peer(), charge);

    sleep(Duration::from_secs(5)).await;
    let early = alive.send(post("k", "x")).await;
    assert_eq!(early.refusal(), "409 in-progress, after 1");
    assert_eq!((dead.runs(), alive.runs()), (1, 0));

    sleep(Duration::from_secs(56)).await;
    let mut ran = 0;
    let ten = std::array::from_fn::<_, 10, _>(|_| alive.send(post("k", "x")));
    for got in futures_all(ten).await {
        match got.status.as_u16() {
            201 => ran += usize::from(!got.is_replay()),
            _ => assert_eq!(got.refusal(), "409 in-progress, after 1"),
        }
    }
    assert_eq!((ran, alive.runs()), (1, 1));
    assert!(alive.send(post("k", "x")).await.is_replay());
    assert_eq!(alive.counts().reruns, 1);
}

async fn futures_all<F: Future, const N: usize>(futures: [F; N]) -> Vec<F::Output> {
    let mut futures = futures.map(Box::pin);
    let mut done = Vec::new();
    let mut open = vec![true; N];
    std::future::poll_fn(|cx| {
        for (at, future) in futures.iter_mut().enumerate() {
            if open[at] {
                if let std::task::Poll::Ready(output) = future.as_mut().poll(cx) {
                    done.push(output);
                    open[at] = false;
                }
            }
        }
        match open.contains(&true) {
            true => std::task::Poll::Pending,
            false => std::task::Poll::Ready(()),
        }
    })
    .await;
    done
}

#[tokio::test(start_paused = true)]
async fn under_at_most_once_a_dead_workers_outcome_is_unknown_and_nothing_runs() {
    let store = Wired::new();
    let dead = die_at_work(&store, AtMostOnce::new()).await;
    let alive = Process::at_most_once(&store.peer(), charge);
    sleep(Duration::from_secs(5)).await;
    let early = alive.send(post("k", "x")).await;
    assert_eq!(early.refusal(), "409 in-progress, after 1");
    for _ in 0..3 {
        sleep(Duration::from_secs(56)).await;
        let late = alive.send(post("k", "x")).await;
        assert_eq!(late.refusal(), "409 outcome-unknown, after 60");
    }
    let other = alive.send(post("k", "y")).await;
    assert_eq!(other.refusal(), "422 key-reused");
    assert_eq!((dead.runs(), alive.runs()), (1, 0));
    assert_eq!(alive.counts().unknown, 3);
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_outlasts_its_lease_keeps_it() {
    let store = Wired::new();
    let gate = Arc::new(Notify::new());
    let slow = process(&store, Reentrant, &gate);
    let first = tokio::spawn(oneshot(&slow));
    let other = process(&store.peer(), Reentrant, &gate);
    for _ in 0..20 {
        sleep(LEASE / 2).await;
        let repeat = other.send(post("k", "x")).await;
        assert_eq!(repeat.refusal(), "409 in-progress, after 1");
    }
    gate.notify_one();
    first.await.unwrap().unwrap();
    assert!(other.send(post("k", "x")).await.is_replay());
    let renewals = store
        .steps()
        .iter()
        .filter(|step| **step == Step::Renew)
        .count();
    assert_eq!((slow.runs(), other.runs(), renewals), (1, 0, 30));
}

#[tokio::test(start_paused = true)]
async fn failed_renewals_lose_nothing_while_one_in_time_is_heard() {
    for fault in [Fault::Error, Fault::Hang, Fault::DoneButLost] {
        let store = Wired::new();
        let gate = Arc::new(Notify::new());
        let slow = process(&store, Reentrant, &gate);
        store.break_next(Step::Renew, &[fault, fault]);
        let first = tokio::spawn(oneshot(&slow));
        sleep(LEASE * 2).await;
        let other = process(&store.peer(), Reentrant, &gate);
        let repeat = other.send(post("k", "x")).await;
        assert_eq!(repeat.refusal(), "409 in-progress, after 1");
        gate.notify_one();
        first.await.unwrap().unwrap();
        assert_eq!((slow.counts().lost, other.runs()), (0, 0), "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_handler_hears_of_its_lost_lease_when_it_ends_whatever_the_store_does() {
    for fault in [Fault::Error, Fault::Hang] {
        let store = Wired::new();
        store.break_next(Step::Renew, &[fault; 100]);
        let heard = async |request: Req| {
            let lease = lease(&request);
            assert!(!lease.is_lost());
            let start = Instant::now();
            lease.lost().await;
            assert!(lease.is_lost());
            assert_eq!(start.elapsed().as_secs(), LEASE.as_secs());
            answer(201, "stopped early")
        };
        let process = Process::new(&store, Reentrant, config().with_engine(engine()), heard);
        let got = process.send(post("k", "x")).await;
        assert_eq!((got.status.as_u16(), process.counts().lost), (201, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_stale_owner_does_not_get_its_answer_past_the_fence() {
    let (store, gate) = (Wired::new(), Arc::new(Notify::new()));
    let frozen = process(&store, Reentrant, &gate);
    let first = tokio::spawn(oneshot(&frozen));
    settle().await;
    store.die();
    sleep(LEASE + Duration::from_secs(1)).await;
    let other = Process::reentrant(&store.peer(), charge);
    assert_eq!(other.send(post("k", "x")).await.body, "receipt 1");

    store.thaw();
    gate.notify_one();
    let late = first.await.unwrap().unwrap();
    assert!(late.headers().contains_key("idempotent-replayed"));
    let late = http_body_util::BodyExt::collect(late.into_body())
        .await
        .unwrap();
    assert_eq!(late.to_bytes(), "receipt 1");
    assert_eq!((frozen.counts().fenced, frozen.counts().lost), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_stale_owner_is_told_to_come_back_while_the_next_one_works() {
    let (store, gate) = (Wired::new(), Arc::new(Notify::new()));
    let frozen = process(&store, Reentrant, &gate);
    let first = tokio::spawn(oneshot(&frozen));
    settle().await;
    store.die();
    sleep(LEASE + Duration::from_secs(1)).await;
    let next = process(&store.peer(), Reentrant, &Arc::default());
    let _works = tokio::spawn(oneshot(&next));
    settle().await;
    store.thaw();
    gate.notify_one();
    assert_eq!(first.await.unwrap().unwrap().status(), 409);
    assert_eq!((frozen.counts().fenced, next.runs()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn under_at_most_once_a_late_owner_still_tells_what_it_did() {
    let (store, gate) = (Wired::new(), Arc::new(Notify::new()));
    let frozen = process(&store, AtMostOnce::new(), &gate);
    let first = tokio::spawn(oneshot(&frozen));
    settle().await;
    store.die();
    sleep(LEASE + Duration::from_secs(1)).await;
    let other = Process::at_most_once(&store.peer(), charge);
    let lost = other.send(post("k", "x")).await;
    assert_eq!(lost.refusal(), "409 outcome-unknown, after 60");

    store.thaw();
    gate.notify_one();
    first.await.unwrap().unwrap();
    let known = other.send(post("k", "x")).await;
    assert!(known.is_replay());
    assert!(known.body.starts_with(b"fence"));
    assert_eq!((frozen.runs(), other.runs()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_repeat_beside_a_lost_owner_in_its_own_process_waits_for_it() {
    let (store, gate) = (Wired::new(), Arc::new(Notify::new()));
    let frozen = process(&store, Reentrant, &gate);
    let first = tokio::spawn(oneshot(&frozen));
    store.break_next(Step::Renew, &[Fault::Error; 100]);
    sleep(LEASE * 2).await;
    let beside = frozen.send(post("k", "x")).await;
    assert_eq!(beside.refusal(), "409 in-progress, after 1");
    gate.notify_one();
    first.await.unwrap().unwrap();
    assert!(frozen.send(post("k", "x")).await.is_replay());
    assert_eq!(frozen.runs(), 1);
}
