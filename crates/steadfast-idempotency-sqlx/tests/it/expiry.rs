use std::time::Duration;

use steadfast_idempotency::server::{Engine, EngineConfig};

use crate::ledger::{Ledger, count, run};

#[tokio::test]
async fn an_expired_record_is_honoured_until_it_is_swept() {
    let ledger = Ledger::new().await;
    let config = EngineConfig::default().with_retention(Duration::ZERO);
    let engine = Engine::new(ledger.store.clone(), config);
    for key in ["a", "b", "c"] {
        assert_eq!(run(&engine, key).await, "ran");
        assert_eq!(
            run(&engine, key).await,
            "replayed",
            "expired, and still there"
        );
    }
    assert_eq!(run(&ledger.engine(), "kept").await, "ran");

    // A second goes by, since the database counts whole ones and retention is a minimum.
    assert_eq!(ledger.store.sweep(2).await.unwrap(), 0);
    sqlx::raw_sql("UPDATE steadfast_idempotency SET expires_at = expires_at - 1 WHERE key < 'd'")
        .execute(ledger.store.writer())
        .await
        .unwrap();
    assert_eq!(ledger.store.sweep(2).await.unwrap(), 2);
    assert_eq!(ledger.store.sweep(2).await.unwrap(), 1);
    assert_eq!(ledger.store.sweep(2).await.unwrap(), 0);
    assert_eq!(run(&ledger.engine(), "kept").await, "replayed");
    assert_eq!(
        run(&engine, "a").await,
        "ran",
        "swept: the key is new again"
    );
    assert_eq!(ledger.charges().await, 5);
}

#[tokio::test]
async fn the_default_retention_is_three_days_by_the_databases_clock() {
    let ledger = Ledger::new().await;
    run(&ledger.engine(), "k").await;
    let kept = "SELECT expires_at - created_at FROM steadfast_idempotency";
    assert_eq!(count(&ledger.store, kept).await, 72 * 60 * 60);
    let age = "SELECT unixepoch() - created_at FROM steadfast_idempotency";
    assert!((0..60).contains(&count(&ledger.store, age).await));
}

#[tokio::test]
async fn a_record_of_another_version_is_not_guessed_at() {
    let ledger = Ledger::new().await;
    let engine = ledger.engine();
    run(&engine, "k").await;
    sqlx::raw_sql("UPDATE steadfast_idempotency SET version = 2")
        .execute(ledger.store.writer())
        .await
        .unwrap();
    assert_eq!(run(&engine, "k").await, "unavailable");
    assert_eq!(ledger.charges().await, 1);
}

/// A fraction of a second is kept too, and the start of the second is nobody's.
#[tokio::test]
async fn retention_is_a_minimum() {
    let ledger = Ledger::new().await;
    let config = EngineConfig::default().with_retention(Duration::from_millis(1900));
    run(&Engine::new(ledger.store.clone(), config), "k").await;
    let kept = "SELECT expires_at - created_at FROM steadfast_idempotency";
    assert_eq!(count(&ledger.store, kept).await, 2);
}

/// A migration that fails in its middle leaves its transaction open.
#[tokio::test]
async fn a_transaction_that_text_left_open_on_the_writer_blocks_nobody() {
    let ledger = Ledger::new().await;
    let broken = "BEGIN; CREATE TABLE half (a); SELECT nonsense FROM nowhere; COMMIT;";
    sqlx::raw_sql(broken)
        .execute(ledger.store.writer())
        .await
        .unwrap_err();
    assert_eq!(run(&ledger.engine(), "k").await, "ran");
    let half = "SELECT count(*) FROM sqlite_schema WHERE name = 'half'";
    assert_eq!(count(&ledger.store, half).await, 0);
}
