//! A queue delivers a message again when it was not acknowledged, and a consumer that died after
//! its work did not acknowledge. `cargo run --example consumer` takes 300 orders from a table with
//! and without `engine.execute`, and sends the receipts through an outbox whose replies get lost.

mod consumer;
mod queue;

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use consumer::{Work, consume};
use queue::Queue;
use steadfast::backoff::Backoff;
use steadfast::idempotency::server::outbox::{Dispatch, Relay, RelayConfig, Sending};
use steadfast::idempotency::server::{Engine, EngineConfig};
use steadfast::sqlx::{SqliteOutbox, SqliteStore};
use steadfast::{BoxError, Random};

const ORDERS: u32 = 300;
const CONSUMERS: usize = 4;

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    println!("{ORDERS} orders, {CONSUMERS} consumers, one in five dies before it acknowledges\n");
    println!("| | deliveries | charges | charged twice or more |");
    println!("|---|---|---|---|");
    let directory = tempfile::tempdir()?;
    let store = SqliteStore::open(directory.path().join("plain.sqlite")).await?;
    let plain = run(
        "charge, then acknowledge",
        &store,
        Work::Plain(store.clone()),
    )
    .await?;

    let store = SqliteStore::open(directory.path().join("keyed.sqlite")).await?;
    let outbox = SqliteOutbox::open(&store).await?;
    let engine = Engine::new(store.clone(), EngineConfig::default());
    let keyed = run(
        "engine.execute, then acknowledge",
        &store,
        Work::Keyed(engine),
    )
    .await?;

    let (sent, keys) = relay(outbox, &store).await?;
    println!("\n{sent} receipts were sent, under {keys} keys: who counts keys has each one once");
    if plain == 0 || keyed != 0 {
        return Err("the plain consumer charges twice and the keyed one does not".into());
    }
    if keys != ORDERS as usize || sent <= keys {
        return Err("each receipt arrives, some of them more than once".into());
    }
    Ok(())
}

/// Empties a queue, and says how many orders were charged more than once.
async fn run(name: &str, store: &SqliteStore, work: Work) -> Result<i64, BoxError> {
    let queue = Queue::fill(store, ORDERS).await?;
    let fate = Arc::new(Mutex::new(Random::seeded(7).draws()));
    let consumers: Vec<_> = (0..CONSUMERS)
        .map(|_| tokio::spawn(consume(queue.clone(), work.clone(), Arc::clone(&fate))))
        .collect();
    for consumer in consumers {
        consumer.await??;
    }
    let deliveries = count(store, "SELECT count(*) FROM delivered").await?;
    let charges = count(store, "SELECT count(*) FROM charge").await?;
    const TWICE: &str = "SELECT count(*) FROM
        (SELECT message FROM charge GROUP BY message HAVING count(*) > 1)";
    let twice = count(store, TWICE).await?;
    println!("| {name} | {deliveries} | {charges} | {twice} |");
    Ok(twice)
}

/// Sends all receipts to a peer of which every third reply is lost, so that it is sent again.
async fn relay(outbox: SqliteOutbox, store: &SqliteStore) -> Result<(usize, usize), BoxError> {
    let arrived = Arc::new(Mutex::new(Vec::new()));
    let peer = Arc::clone(&arrived);
    let send = move |dispatch: Dispatch| {
        let mut arrived = peer.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        arrived.push(dispatch.message.key.to_string());
        let lost = arrived.len() % 3 == 0;
        std::future::ready(match lost {
            true => Sending::Again(Duration::ZERO),
            false => Sending::Sent,
        })
    };
    let quick = Backoff::default().with_base(Duration::from_millis(1));
    let config = RelayConfig::default()
        .with_backoff(quick)
        .with_poll(Duration::from_millis(10));
    let relay = Relay::new(outbox, send, config);
    let all_sent = async {
        const LEFT: &str = "SELECT count(*) FROM steadfast_outbox WHERE sent_at IS NULL";
        while count(store, LEFT).await.is_ok_and(|left| left > 0) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    relay.run(all_sent).await;
    let arrived = arrived
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    let keys: HashSet<_> = arrived.iter().collect();
    Ok((arrived.len(), keys.len()))
}

async fn count(store: &SqliteStore, query: &'static str) -> Result<i64, BoxError> {
    Ok(sqlx::query_scalar(query).fetch_one(store.reader()).await?)
}
