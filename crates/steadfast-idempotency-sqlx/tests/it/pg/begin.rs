//! Why `begin` belongs into a task that nobody drops, and what the store does where it is dropped.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

use sqlx::postgres::PgPoolOptions;
use steadfast_idempotency::server::{Began, Engine, EngineConfig, TxStore};
use steadfast_idempotency_sqlx::PgStore;

use super::PgLedger;
use super::ledger::{charge, run};
use crate::ledger::{operation, payload};

const ROUNDS: u32 = 60;

/// Polls a future so many times, with what the runtime does in between, and drops it.
async fn cut<F: Future>(future: F, polls: u32) {
    let mut future = pin!(future);
    for _ in 0..polls {
        let mut cx = Context::from_waker(Waker::noop());
        if future.as_mut().poll(&mut cx).is_ready() {
            return;
        }
        tokio::task::yield_now().await;
    }
}

/// The negative control: a handler's future is dropped with its client, and with it this begin.
/// When this fails sqlx has been mended, and the warning in the README can go.
#[tokio::test]
async fn a_begin_of_sqlx_that_is_dropped_swallows_the_writes_of_the_next_borrower() {
    let Some(ledger) = PgLedger::new().await else {
        return;
    };
    let pool = PgPoolOptions::new().max_connections(1);
    let pool = pool.test_before_acquire(false);
    let pool = pool.connect(&ledger.url).await.unwrap();
    // The connection is back and idle, so that the first poll sends BEGIN.
    while pool.num_idle() == 0 {
        tokio::task::yield_now().await;
    }
    cut(pool.begin(), 1).await;
    sqlx::query("INSERT INTO charge (key, cents) VALUES ('autocommit', 1)")
        .execute(&pool)
        .await
        .unwrap();
    assert_eq!(ledger.charges().await, 0, "it was said to be done");
}

#[tokio::test]
async fn a_begin_of_the_store_that_is_dropped_leaves_no_transaction_behind() {
    let Some(ledger) = PgLedger::new().await else {
        return;
    };
    let options = PgPoolOptions::new().max_connections(1);
    let connect = ledger.url.parse().unwrap();
    let store = PgStore::open_with(options, connect).await.unwrap();
    let engine = Engine::new(store.clone(), EngineConfig::default());
    for round in 0..ROUNDS {
        cut(store.begin(&operation("dropped")), round % 8 + 1).await;
        let key = format!("k{round}");
        assert_eq!(run(&engine, &key).await, "ran");
    }
    let rounds = i64::from(ROUNDS);
    let kept = (ledger.charges().await, ledger.records().await);
    assert_eq!(kept, (rounds, rounds), "each is seen by others at once");
    assert!(matches!(
        store.begin(&operation("dropped")).await.unwrap(),
        Began::Fresh(_)
    ));
}

#[tokio::test]
async fn a_caller_who_leaves_drops_neither_begin_nor_commit() {
    let Some(ledger) = PgLedger::new().await else {
        return;
    };
    let engine = ledger.engine();
    for round in 0..ROUNDS {
        let key = operation(&format!("k{round}"));
        cut(engine.execute(key, payload(), charge), round % 8).await;
    }
    engine
        .drain(std::time::Duration::from_secs(20))
        .await
        .unwrap();
    let rounds = i64::from(ROUNDS);
    assert_eq!(
        (ledger.charges().await, ledger.records().await),
        (rounds, rounds)
    );
}
