use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::rig::{Process, charge};
use super::store::{Fault, Step, Wired};
use crate::server::rig::post;

const UNAVAILABLE: &str = "503 store-unavailable, after 1";

#[tokio::test(start_paused = true)]
async fn a_store_that_takes_no_claim_keeps_the_handler_from_running() {
    for fault in [Fault::Error, Fault::Hang] {
        let store = Wired::new();
        store.break_next(Step::Claim, &[fault, fault]);
        let process = Process::reentrant(&store, charge);
        let start = Instant::now();
        let got = process.send(post("k", "x")).await;
        assert_eq!(got.refusal(), UNAVAILABLE, "{fault:?}");
        assert!(!String::from_utf8_lossy(&got.body).contains("10.0.0.7"));
        assert!(start.elapsed() <= Duration::from_secs(11), "{fault:?}");
        assert_eq!(process.runs(), 0);
        assert_eq!(process.send(post("k", "x")).await.status, 201);
    }
}

#[tokio::test(start_paused = true)]
async fn a_claim_whose_answer_is_lost_is_made_again_and_blocks_nothing() {
    for fault in [Fault::DoneButLost, Fault::DoneButHangs] {
        let store = Wired::new();
        store.break_next(Step::Claim, &[fault]);
        let process = Process::at_most_once(&store, charge);
        assert_eq!(process.send(post("k", "x")).await.status, 201);
        assert!(process.send(post("k", "x")).await.is_replay());
        assert_eq!((process.runs(), process.counts().reruns), (1, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn a_completion_whose_answer_is_lost_is_said_again() {
    for fault in [
        Fault::Error,
        Fault::Hang,
        Fault::DoneButLost,
        Fault::DoneButHangs,
    ] {
        let store = Wired::new();
        store.break_next(Step::Complete, &[fault, fault]);
        let process = Process::at_most_once(&store, charge);
        let first = process.send(post("k", "x")).await;
        assert_eq!((first.status.as_u16(), first.is_replay()), (201, false));
        let other = Process::at_most_once(&store.peer(), charge);
        assert!(other.send(post("k", "x")).await.is_replay(), "{fault:?}");
        assert_eq!(process.counts().unrecorded, 0);
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_cannot_be_kept_is_given_and_the_claim_stays_for_its_lease() {
    let lease = Duration::from_secs(30);
    for fault in [Fault::Error, Fault::Hang] {
        let store = Wired::new();
        store.break_next(Step::Complete, &[fault; 3]);
        let process = Process::at_most_once(&store, charge);
        assert_eq!(process.send(post("k", "x")).await.body, "receipt 1");
        assert_eq!(process.counts().unrecorded, 1);
        let held = process.send(post("k", "x")).await;
        assert_eq!(held.refusal(), "409 in-progress, after 1");
        sleep(lease).await;
        let unknown = process.send(post("k", "x")).await;
        assert_eq!(unknown.refusal(), "409 outcome-unknown, after 60");
        assert_eq!(process.runs(), 1);

        let store = Wired::new();
        store.break_next(Step::Complete, &[fault; 3]);
        let process = Process::reentrant(&store, charge);
        assert_eq!(process.send(post("k", "x")).await.body, "receipt 1");
        sleep(lease).await;
        let again = process.send(post("k", "x")).await;
        assert_eq!((again.status.as_u16(), again.is_replay()), (201, false));
        assert_eq!((process.runs(), process.counts().reruns), (2, 1));
    }
}
