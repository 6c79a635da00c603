use std::sync::{Arc, Mutex};

use steadfast_idempotency::server::{EngineConfig, TransactionUnavailable, TransactionUse};

use super::rig::{Req, Server, answer, charge, config, post, slot, take};

#[tokio::test(start_paused = true)]
async fn a_handler_that_writes_elsewhere_is_found_out() {
    let outside = Arc::new(Mutex::new(None::<super::store::MemoryStore>));
    let pool = Arc::clone(&outside);
    let server = Server::new(move |_| {
        pool.lock()
            .unwrap()
            .as_ref()
            .unwrap()
            .write_outside("unprotected");
        async { answer(201, "done") }
    });
    *outside.lock().unwrap() = Some(server.store.clone());
    assert_eq!(
        server.send(post("k", "x")).await.refusal(),
        "500 transaction-not-used"
    );
    assert_eq!(server.store.records(), 0);
}

#[tokio::test(start_paused = true)]
async fn without_strictness_an_unused_transaction_is_fine() {
    let engine = EngineConfig::default().with_transaction_use(TransactionUse::Optional);
    let server = Server::with(config().with_engine(engine), async |_| answer(201, "done"));
    assert_eq!(server.send(post("k", "x")).await.status, 201);
    assert!(server.send(post("k", "x")).await.is_replay());
}

#[tokio::test(start_paused = true)]
async fn a_refusal_needs_no_transaction() {
    let server = Server::new(async |_| answer(422, "no"));
    assert_eq!(server.send(post("k", "x")).await.status, 422);
    assert!(server.send(post("k", "x")).await.is_replay());
}

#[tokio::test(start_paused = true)]
async fn a_guard_leaked_into_a_spawned_task_is_found_out() {
    let gate = Arc::new(tokio::sync::Notify::new());
    let held = Arc::clone(&gate);
    let server = Server::new(move |request: Req| {
        let held = Arc::clone(&held);
        async move {
            let mut tx = take(&request);
            tokio::spawn(async move {
                held.notified().await;
                tx.effects.push("late".to_owned());
            });
            answer(201, "done")
        }
    });
    let got = server.send(post("k", "x")).await;
    assert_eq!(got.refusal(), "500 transaction-not-returned");
    gate.notify_one();
    tokio::task::yield_now().await;
    assert_eq!(
        (server.store.effects().len(), server.store.records()),
        (0, 0)
    );
    gate.notify_one();
    assert_eq!(
        server.send(post("k", "x")).await.refusal(),
        "500 transaction-not-returned"
    );
    assert_eq!(server.runs(), 2, "the writer was free again");
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_ends_the_transaction_by_hand_is_found_out() {
    for status in [201, 422, 500] {
        let server = Server::new(move |request: Req| async move {
            take(&request).ended = true;
            answer(status, "done")
        });
        let got = server.send(post("k", "x")).await;
        assert_eq!(got.refusal(), "500 transaction-ended", "{status}");
        assert_eq!(server.store.records(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_second_guard_is_refused_while_the_first_is_out() {
    let server = Server::new(async |request: Req| {
        let slot = slot(&request);
        let first = slot.take()?;
        assert_eq!(slot.take().unwrap_err(), TransactionUnavailable::Taken);
        drop(first);
        slot.take()?;
        answer(201, "done")
    });
    assert_eq!(server.send(post("k", "x")).await.status, 201);
}

#[tokio::test(start_paused = true)]
async fn a_slot_kept_past_the_handler_gives_nothing() {
    let kept = Arc::new(Mutex::new(None));
    let keep = Arc::clone(&kept);
    let server = Server::new(move |request: Req| {
        *keep.lock().unwrap() = Some(slot(&request));
        charge(request)
    });
    server.send(post("k", "x")).await;
    let slot = kept.lock().unwrap().take().unwrap();
    assert_eq!(slot.take().unwrap_err(), TransactionUnavailable::Ended);
}
