use std::future::pending;
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use http_body_util::Full;
use steadfast_core::BoxError;
use steadfast_idempotency::server::leased::{AtMostOnce, Reentrant};
use steadfast_idempotency::server::{EngineConfig, Settlement};

use super::rig::Process;
use super::store::Wired;
use crate::server::rig::{Req, answer, config, post};

const UNKNOWN: &str = "409 outcome-unknown, after 60";

type Answering = Result<Response<Full<Bytes>>, BoxError>;

fn saying(status: u16, settlement: Option<Settlement>) -> impl Fn(Req) -> Said + Clone + Send {
    move |_| {
        let mut said = answer(status, "said").unwrap();
        if let Some(settlement) = settlement {
            said.extensions_mut().insert(settlement);
        }
        std::future::ready(Ok(said))
    }
}

type Said = std::future::Ready<Answering>;

#[tokio::test(start_paused = true)]
async fn what_is_final_is_kept_under_either_policy() {
    for status in [200, 201, 303, 400, 402, 404, 422] {
        let process = Process::at_most_once(&Wired::new(), saying(status, None));
        for replays in [false, true] {
            let got = process.send(post("k", "x")).await;
            assert_eq!((got.status.as_u16(), got.is_replay()), (status, replays));
        }
        let process = Process::reentrant(&Wired::new(), saying(status, None));
        process.send(post("k", "x")).await;
        assert!(process.send(post("k", "x")).await.is_replay(), "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_says_nothing_of_its_effect_is_left_to_the_policy() {
    for status in [401, 403, 408, 409, 423, 425, 429, 500, 502, 503, 504] {
        let process = Process::reentrant(&Wired::new(), saying(status, None));
        for runs in 1..=2 {
            let got = process.send(post("k", "x")).await;
            assert_eq!((got.status.as_u16(), got.is_replay()), (status, false));
            assert_eq!(process.runs(), runs);
        }
        let process = Process::at_most_once(&Wired::new(), saying(status, None));
        // Its own caller hears what the handler said.
        assert_eq!(process.send(post("k", "x")).await.status, status);
        assert_eq!(process.send(post("k", "x")).await.refusal(), UNKNOWN);
        assert_eq!(process.runs(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_asserts_no_effect_frees_its_key_and_one_that_is_final_keeps_it() {
    let free = Some(Settlement::Discard);
    for status in [200, 403, 503] {
        let process = Process::at_most_once(&Wired::new(), saying(status, free));
        for runs in 1..=2 {
            assert_eq!(process.send(post("k", "x")).await.status, status);
            assert_eq!(process.runs(), runs);
        }
    }
    for settlement in [Settlement::Commit, Settlement::Store] {
        let process = Process::reentrant(&Wired::new(), saying(503, Some(settlement)));
        process.send(post("k", "x")).await;
        let again = process.send(post("k", "x")).await;
        assert_eq!((again.status.as_u16(), again.is_replay()), (503, true));
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_settles_the_claim_at_once() {
    let panics = async |_: Req| -> Answering { panic!("the handler's own") };
    let process = Process::reentrant(&Wired::new(), panics);
    for runs in 1..=2 {
        let got = process.send(post("k", "x")).await;
        assert_eq!(got.refusal(), "500 handler-panicked");
        assert!(!String::from_utf8_lossy(&got.body).contains("rolled back"));
        assert_eq!(process.runs(), runs);
    }
    let process = Process::at_most_once(&Wired::new(), panics);
    let got = process.send(post("k", "x")).await;
    assert_eq!(got.refusal(), "500 handler-panicked");
    assert_eq!(process.send(post("k", "x")).await.refusal(), UNKNOWN);
    assert_eq!(process.runs(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_error_passes_through_and_is_left_to_the_policy() {
    let fails = async |_: Req| -> Answering { Err("the handler's own".into()) };
    let process = Process::at_most_once(&Wired::new(), fails);
    let error = process.try_send(post("k", "x")).await.unwrap_err();
    assert_eq!(error.to_string(), "the handler's own");
    assert_eq!(process.send(post("k", "x")).await.refusal(), UNKNOWN);
    let process = Process::reentrant(&Wired::new(), fails);
    for _ in 0..2 {
        process.try_send(post("k", "x")).await.unwrap_err();
    }
    assert_eq!(process.runs(), 2);
}

#[tokio::test(start_paused = true)]
async fn work_that_takes_too_long_is_dropped_and_left_to_the_policy() {
    let hangs = async |_: Req| -> Answering { pending().await };
    let engine = EngineConfig::default().with_work_limit(Duration::from_secs(100));
    let config = config().with_engine(engine);
    let process = Process::new(&Wired::new(), Reentrant, config.clone(), hangs);
    for runs in 1..=2 {
        let got = process.send(post("k", "x")).await;
        assert_eq!(got.refusal(), "503 work-limit-exceeded, after 1");
        assert_eq!(process.runs(), runs);
    }
    let process = Process::new(&Wired::new(), AtMostOnce::new(), config, hangs);
    process.send(post("k", "x")).await;
    assert_eq!(process.send(post("k", "x")).await.refusal(), UNKNOWN);
}
