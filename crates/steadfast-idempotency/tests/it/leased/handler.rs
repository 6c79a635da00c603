use std::sync::{Arc, Mutex};

use http::StatusCode;
use steadfast_idempotency::server::leased::{Lease, LeasedEngine, Reentrant};
use steadfast_idempotency::server::{Answer, EngineConfig, Executed, FingerprintHasher, Worked};

use super::rig::{Process, lease, operation};
use super::store::Wired;
use crate::server::rig::{Req, answer, post};

#[tokio::test(start_paused = true)]
async fn a_handler_finds_its_lease_and_every_run_has_a_larger_fence_and_the_same_keys() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let writes = Arc::clone(&seen);
    let process = Process::reentrant(&Wired::new(), move |request: Req| {
        let lease = lease(&request);
        assert_eq!(lease.operation(), &operation("k"));
        let (fence, attempt) = (lease.fence(), lease.attempt());
        let child = lease.child("charge");
        writes.lock().unwrap().push((fence, attempt, child));
        async { answer(503, "try again") }
    });
    for _ in 0..3 {
        process.send(post("k", "x")).await;
    }
    let seen = seen.lock().unwrap();
    assert!(seen.windows(2).all(|pair| pair[0].0 < pair[1].0));
    let attempts: Vec<_> = seen.iter().map(|run| run.1).collect();
    assert_eq!(attempts, [1, 2, 3]);
    assert!(
        seen.iter()
            .all(|run| run.2 == operation("k").child("charge"))
    );
}

#[tokio::test(start_paused = true)]
async fn a_consumer_of_messages_needs_no_http_server() {
    let engine = LeasedEngine::new(Wired::new(), Reentrant, EngineConfig::default());
    let payload = FingerprintHasher::new("message").field("hello").finish();
    let deliver = async |_: Lease| Worked::commit("fresh", Answer::new(StatusCode::OK, "kept"));
    let first = engine.execute(operation("17"), payload, deliver).await;
    assert!(matches!(first, Ok(Executed::Ran("fresh"))), "{first:?}");
    let second = engine.execute(operation("17"), payload, deliver).await;
    let Ok(Executed::Replayed(record)) = second else {
        panic!("{second:?}");
    };
    assert_eq!(record.answer.body, "kept");
}

#[tokio::test(start_paused = true)]
async fn debug_output_shows_neither_scope_nor_key() {
    let shown = Arc::new(Mutex::new(String::new()));
    let writes = Arc::clone(&shown);
    let process = Process::reentrant(&Wired::new(), move |request: Req| {
        *writes.lock().unwrap() = format!("{:?}", lease(&request));
        async { answer(201, "x") }
    });
    process.send(post("secret-key", "x")).await;
    let shown = format!("{}{:?}", shown.lock().unwrap(), process.layer);
    assert!(
        shown.contains("fence") && !shown.contains("secret"),
        "{shown}"
    );
}
