//! What a key costs: the same handler with its own transaction and no keys beside it, in one run.
//!
//! `cargo bench -p steadfast-idempotency-sqlx --bench cost`; the README beside it has the table.
#![allow(clippy::unwrap_used, reason = "a measurement")]

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use steadfast_idempotency::Key;
use steadfast_idempotency::server::{
    Answer, Engine, EngineConfig, Executed, Fingerprint, FingerprintHasher, Operation,
    TransactionSlot, TxStore, Worked,
};
use tokio::time::Instant;

mod postgres;
mod sqlite;

const CLIENTS: usize = 8;
/// Operations of one round, over all clients.
const OPERATIONS: usize = 800;
/// The variants take turns, so that a busy neighbour of the machine hits all of them.
const ROUNDS: usize = 9;
const KEYS: [usize; 2] = [100, 1_000_000];
/// As long as a small JSON answer.
const BODY: &[u8] = &[b'x'; 200];

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    // `cargo bench ... -- postgres` measures one store alone.
    let wanted = |name: &str| {
        let mut stores = std::env::args().skip(1).filter(|it| !it.starts_with("--"));
        stores.next().is_none_or(|it| it == name)
    };
    runtime.block_on(async {
        if wanted("sqlite") {
            sqlite::measure().await;
        }
        if wanted("postgres") {
            postgres::measure().await;
        }
    });
}

/// Runs `one` for each number below `OPERATIONS`, by eight clients: operations per second.
async fn rate<F: Future<Output = ()> + Send + 'static>(
    one: impl Fn(usize) -> F + Clone + Send + 'static,
) -> f64 {
    let next = Arc::new(AtomicUsize::new(0));
    let start = Instant::now();
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let (one, next) = (one.clone(), Arc::clone(&next));
            tokio::spawn(async move {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= OPERATIONS {
                        return;
                    }
                    one(at).await;
                }
            })
        })
        .collect();
    for client in clients {
        client.await.unwrap();
    }
    OPERATIONS as f64 / start.elapsed().as_secs_f64()
}

/// The rates of one variant, and what they are beside those of another in the same rounds.
#[derive(Default)]
struct Series(Vec<f64>);

impl Series {
    fn push(&mut self, rate: f64) {
        self.0.push(rate);
    }

    fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    }

    fn beside(&self, base: &Self) -> f64 {
        let ratios = self.0.iter().zip(&base.0).map(|(own, base)| own / base);
        Self(ratios.collect()).median()
    }
}

fn tell(what: &str, series: &Series, base: &Series) {
    let (rate, ratio) = (series.median(), series.beside(base));
    println!("| {what} | {rate:.0} | {ratio:.2} |");
}

/// What the handler does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// One statement, the least that a handler with an effect can do.
    Insert,
    /// Three: a balance, a charge, a message for the outbox.
    Transfer,
}

const ACCOUNTS: i64 = 1_000;

fn runs() -> impl Iterator<Item = (usize, Shape)> {
    let shapes = [Shape::Insert, Shape::Transfer];
    KEYS.into_iter()
        .flat_map(move |keys| shapes.map(|shape| (keys, shape)))
}

fn head(store: &str, keys: usize, shape: Shape) {
    println!("\n| {store}, {keys} keys, {shape:?} | operations/s | beside the bare handler |");
    println!("|---|---|---|");
}

fn operation(name: &str, at: usize) -> Operation {
    let key = FingerprintHasher::new(name)
        .field(at.to_be_bytes())
        .finish();
    let key: String = key.digest()[..16]
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect();
    Operation::new("bench", "caller", &Key::parse(&key).unwrap())
}

fn payload() -> Fingerprint {
    FingerprintHasher::new("bench").field("payload").finish()
}

fn answer() -> Answer {
    Answer::new(http::StatusCode::CREATED, BODY)
}

fn engine<St: TxStore>(store: St) -> Engine<St> {
    let config = EngineConfig::default().with_store_timeout(Duration::from_secs(30));
    Engine::new(store, config)
}

/// Runs one operation and checks that it went the way that is measured.
async fn execute<St, W, F>(engine: Engine<St>, operation: Operation, fresh: bool, work: W)
where
    St: TxStore,
    W: FnOnce(TransactionSlot<St::Tx>) -> F + Send + 'static,
    F: Future<Output = Worked<()>> + Send + 'static,
{
    let executed = engine.execute(operation, payload(), work).await.unwrap();
    assert_eq!(matches!(executed, Executed::Ran(())), fresh);
}
