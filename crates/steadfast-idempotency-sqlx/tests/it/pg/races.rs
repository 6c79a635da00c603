use std::time::Duration;

use http::StatusCode;
use steadfast_idempotency::server::{
    Answer, Began, Engine, EngineConfig, TransactionSlot, TxStore, Worked,
};
use steadfast_idempotency_sqlx::PgTx;
use tokio::sync::oneshot;

use super::PgLedger;
use super::ledger::{charge, run};
use crate::ledger::{operation, payload, word};

#[tokio::test]
async fn a_key_that_another_process_holds_is_in_progress_at_once() {
    let Some(ledger) = PgLedger::new().await else {
        return;
    };
    let engine = Engine::new(ledger.other().await, EngineConfig::default());
    let Began::Fresh(held) = ledger.store.begin(&operation("k")).await.unwrap() else {
        panic!("nothing is recorded yet");
    };
    // A lock that was waited for would run into this.
    let busy = tokio::time::timeout(Duration::from_secs(3), run(&engine, "k"));
    assert_eq!(busy.await.unwrap(), "in progress");
    assert_eq!(run(&engine, "other").await, "ran", "other keys are free");
    drop(held);
    // The server learns of the drop when the connection closes.
    let freed = async { while run(&engine, "k").await == "in progress" {} };
    tokio::time::timeout(Duration::from_secs(10), freed)
        .await
        .unwrap();
    assert_eq!(run(&engine, "k").await, "replayed");
    assert_eq!((ledger.charges().await, ledger.records().await), (2, 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn engines_that_race_for_a_key_have_one_effect() {
    let Some(ledger) = PgLedger::new().await else {
        return;
    };
    // An engine each: the registry of one does not see the other's work.
    let stores = [ledger.store.clone(), ledger.other().await];
    let engines = stores.map(|store| Engine::new(store, EngineConfig::default()));
    for at in 0..30 {
        let key = operation(&format!("k{at}"));
        let runs: Vec<_> = (0..6)
            .map(|racer| engines[racer % 2].execute(key.clone(), payload(), charge))
            .map(tokio::spawn)
            .collect();
        let mut words = Vec::new();
        for run in runs {
            words.push(word(&run.await.unwrap()));
        }
        words.sort_unstable();
        words.dedup();
        words.retain(|it| !["in progress", "replayed"].contains(it));
        assert_eq!(words, ["ran"], "{at}");
    }
    assert_eq!((ledger.charges().await, ledger.records().await), (30, 30));
}

/// The store looks in `begin`, which one of them holds at a time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replays_do_not_make_each_other_busy() {
    let Some(ledger) = PgLedger::new().await else {
        return;
    };
    let stores = [ledger.store.clone(), ledger.other().await];
    let engines = stores.map(|store| Engine::new(store, EngineConfig::default()));
    assert_eq!(run(&engines[0], "k").await, "ran");
    for _ in 0..20 {
        let runs: Vec<_> = (0..8)
            .map(|at| engines[at % 2].execute(operation("k"), payload(), charge))
            .map(tokio::spawn)
            .collect();
        for run in runs {
            assert_eq!(word(&run.await.unwrap()), "replayed");
        }
    }
    assert_eq!(ledger.charges().await, 1);
}

/// The lock is for the quick answer; the guarantee is the unique key.
#[tokio::test]
async fn without_the_lock_the_unique_key_still_lets_one_effect_through() {
    let Some(ledger) = PgLedger::new().await else {
        return;
    };
    let engine = ledger.engine();
    let other = Engine::new(ledger.other().await, EngineConfig::default());
    let (begun, has_begun) = oneshot::channel();
    let (go, may_go) = oneshot::channel::<()>();
    let slow = move |slot: TransactionSlot<PgTx>| async move {
        let mut tx = slot.take().unwrap();
        // What a hash collision of locks, or a restore of an old snapshot, comes to.
        let bypass = "CREATE TEMP TABLE mark AS \
                          SELECT current_setting('steadfast.operation') AS it; \
                      COMMIT; BEGIN; \
                      SELECT set_config('steadfast.operation', it, true) FROM mark; \
                      INSERT INTO charge VALUES ('slow', 1)";
        sqlx::raw_sql(bypass).execute(&mut **tx).await.unwrap();
        begun.send(()).unwrap();
        may_go.await.unwrap();
        drop(tx);
        Worked::commit((), Answer::new(StatusCode::OK, "slow"))
    };
    let first = engine.execute(operation("k"), payload(), slow);
    has_begun.await.unwrap();
    assert_eq!(run(&other, "k").await, "ran");
    go.send(()).unwrap();
    // It lost, and answers with what won.
    assert_eq!(word(&first.await), "replayed");
    assert_eq!((ledger.charges().await, ledger.records().await), (1, 1));
}

#[tokio::test]
async fn another_payload_under_a_key_learns_nothing() {
    let Some(ledger) = PgLedger::new().await else {
        return;
    };
    let engine = ledger.engine();
    assert_eq!(run(&engine, "k").await, "ran");
    let other = steadfast_idempotency::server::FingerprintHasher::new("test").finish();
    let outcome = engine.execute(operation("k"), other, charge).await;
    assert_eq!(word(&outcome), "reused");
    assert_eq!(ledger.charges().await, 1);
}
