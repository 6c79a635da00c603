use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sqlx::raw_sql;
use steadfast_idempotency::server::{Engine, EngineConfig};

use super::PgLedger;
use super::ledger::run;

const EXPIRE: &str =
    "UPDATE steadfast_idempotency SET expires_at = clock_timestamp() - interval '1 s'";

#[tokio::test]
async fn a_sweep_is_bounded_and_takes_the_oldest_of_what_has_expired() {
    let Some(ledger) = PgLedger::new().await else {
        return;
    };
    let engine = ledger.engine();
    for key in ["a", "b", "c", "kept"] {
        assert_eq!(run(&engine, key).await, "ran");
    }
    assert_eq!(ledger.store.sweep(10).await.unwrap(), 0);
    let age = "UPDATE steadfast_idempotency SET expires_at = clock_timestamp() \
               - (ascii('d') - ascii(key)) * interval '1 minute' WHERE key < 'd'";
    raw_sql(age).execute(&ledger.pool).await.unwrap();
    assert_eq!(
        run(&engine, "a").await,
        "replayed",
        "expired, and still there"
    );
    assert_eq!(ledger.store.sweep(2).await.unwrap(), 2);
    assert_eq!(
        run(&engine, "c").await,
        "replayed",
        "the youngest stays for the next"
    );
    assert_eq!(ledger.store.sweep(2).await.unwrap(), 1);
    assert_eq!(ledger.store.sweep(2).await.unwrap(), 0);
    assert_eq!(run(&engine, "kept").await, "replayed");
    assert_eq!(
        run(&engine, "a").await,
        "ran",
        "swept: the key is new again"
    );
}

#[tokio::test]
async fn one_process_sweeps_and_what_is_locked_is_left_for_later() {
    let Some(ledger) = PgLedger::new().await else {
        return;
    };
    let engine = ledger.engine();
    for key in ["a", "b"] {
        assert_eq!(run(&engine, key).await, "ran");
    }
    raw_sql(EXPIRE).execute(&ledger.pool).await.unwrap();
    let mut reader = ledger.pool.begin().await.unwrap();
    raw_sql("SELECT FROM steadfast_idempotency WHERE key = 'a' FOR UPDATE")
        .execute(&mut *reader)
        .await
        .unwrap();
    assert_eq!(ledger.store.sweep(10).await.unwrap(), 1);
    reader.rollback().await.unwrap();

    // The number is the one of `lock::of_sweeper`, held as another process does during its sweep.
    let mut leader = ledger.pool.begin().await.unwrap();
    raw_sql("SELECT pg_advisory_xact_lock(8607346582080021449)")
        .execute(&mut *leader)
        .await
        .unwrap();
    assert_eq!(ledger.other().await.sweep(10).await.unwrap(), 0);
    leader.rollback().await.unwrap();
    assert_eq!(ledger.other().await.sweep(10).await.unwrap(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_engines_and_two_sweepers_share_a_database_in_peace() {
    let Some(ledger) = PgLedger::new().await else {
        return;
    };
    let stores = [ledger.store.clone(), ledger.other().await];
    let over = Arc::new(AtomicBool::new(false));
    let sweepers: Vec<_> = stores
        .clone()
        .into_iter()
        .map(|store| {
            let over = Arc::clone(&over);
            tokio::spawn(async move {
                let mut swept = 0;
                while !over.load(Ordering::SeqCst) {
                    swept += store.sweep(5).await.unwrap();
                    tokio::task::yield_now().await;
                }
                swept
            })
        })
        .collect();
    // Every other key expires at once; the sweepers may take it as soon as it is committed.
    let configs = [Duration::ZERO, Duration::from_secs(600)];
    let engines: Vec<_> = stores
        .into_iter()
        .zip(configs)
        .map(|(store, kept)| Engine::new(store, EngineConfig::default().with_retention(kept)))
        .collect();
    const KEYS: i64 = 60;
    let mut clients = Vec::new();
    for (at, engine) in engines.into_iter().enumerate() {
        clients.push(tokio::spawn(async move {
            for key in 0..KEYS {
                let key = format!("{at}-{key}");
                assert_eq!(run(&engine, &key).await, "ran");
                if at == 1 {
                    assert_eq!(run(&engine, &key).await, "replayed");
                }
            }
        }));
    }
    for client in clients {
        client.await.unwrap();
    }
    let expired = async {
        while ledger.records().await > KEYS {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), expired)
        .await
        .unwrap();
    over.store(true, Ordering::SeqCst);
    let mut swept = 0;
    for sweeper in sweepers {
        swept += sweeper.await.unwrap();
    }
    assert_eq!(swept, KEYS as u64);
    assert_eq!(ledger.charges().await, 2 * KEYS);
}
