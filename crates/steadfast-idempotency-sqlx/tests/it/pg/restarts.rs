use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use http::StatusCode;
use steadfast_idempotency::server::{Answer, Engine, EngineConfig, TransactionSlot, Worked};
use steadfast_idempotency_sqlx::{PgStore, PgTx};
use steadfast_servers::Postgres;

use super::PgLedger;
use super::ledger::insert;
use crate::ledger::{operation, payload, word};

const RESTARTS: usize = 3;
const CLIENTS: usize = 6;
/// Done between two restarts, so that each falls into running commits.
const KEYS_BETWEEN: usize = 60;

async fn run(engine: &Engine<PgStore>, key: &str) -> &'static str {
    let name = key.to_owned();
    let work = move |slot: TransactionSlot<PgTx>| async move {
        let mut tx = slot.take().unwrap();
        match insert(&mut tx, &name, 1).await {
            Ok(()) => Worked::commit((), Answer::new(StatusCode::CREATED, name)),
            Err(_) => Worked::discard(()),
        }
    };
    word(&engine.execute(operation(key), payload(), work).await)
}

/// Whole immediate restarts under load: no commit is lost that was told of, none is doubled, and
/// effects and records are the same keys at the end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn restarts_during_commits_double_and_lose_nothing() {
    let Some(server) = Postgres::start() else {
        return;
    };
    let ledger = PgLedger::on(&server).await;
    let stores = [ledger.store.clone(), ledger.other().await];
    let engines = stores.map(|store| Engine::new(store, EngineConfig::default()));
    let (over, done) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicUsize::new(0)),
    );
    let mut clients = Vec::new();
    for client in 0..CLIENTS {
        let engine = engines[client % 2].clone();
        let (over, done) = (Arc::clone(&over), Arc::clone(&done));
        clients.push(tokio::spawn(async move {
            let mut keys = Vec::new();
            while !over.load(Ordering::SeqCst) {
                let key = format!("{client}-{}", keys.len());
                // The same key until it is known to be done.
                while run(&engine, &key).await != "replayed" {}
                keys.push(key);
                done.fetch_add(1, Ordering::SeqCst);
            }
            keys
        }));
    }
    for restart in 1..=RESTARTS {
        while done.load(Ordering::SeqCst) < restart * KEYS_BETWEEN {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        server.stop("QUIT");
        server.start_again();
    }
    over.store(true, Ordering::SeqCst);
    let mut keys = HashSet::new();
    for client in clients {
        keys.extend(client.await.unwrap());
    }
    let effects: Vec<String> = sqlx::query_scalar("SELECT key FROM charge")
        .fetch_all(&ledger.pool)
        .await
        .unwrap();
    let records: HashSet<String> = sqlx::query_scalar("SELECT key FROM steadfast_idempotency")
        .fetch_all(&ledger.pool)
        .await
        .unwrap()
        .into_iter()
        .collect();
    assert!(keys.len() >= RESTARTS * KEYS_BETWEEN);
    assert_eq!(effects.len(), keys.len(), "one effect for each key");
    assert_eq!(effects.into_iter().collect::<HashSet<_>>(), keys);
    assert_eq!(records, keys);
}
