use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::StatusCode;
use redis::Client;
use steadfast_idempotency::Key;
use steadfast_idempotency::server::leased::{Claim, LeasePolicy, LeasedEngine, OnExpired, Terms};
use steadfast_idempotency::server::{
    Answer, EngineConfig, Executed, Fingerprint, FingerprintHasher, Operation, Record, Refused,
    Worked,
};
use steadfast_idempotency_redis::{RedisConfig, RedisLeaseStore};
use steadfast_servers::Redis;

/// A store of one's own on a server that others may share: no two have the same prefix.
pub(crate) async fn store(server: &Redis) -> RedisLeaseStore {
    connect(server, config()).await
}

pub(crate) fn config() -> RedisConfig {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    RedisConfig::default()
        .with_prefix(format!("test-{next}"))
        .with_timeout(Duration::from_millis(300))
}

pub(crate) async fn connect(server: &Redis, config: RedisConfig) -> RedisLeaseStore {
    let client = Client::open(server.url()).unwrap();
    RedisLeaseStore::connect_with(client, config).await.unwrap()
}

/// A connection that sees the server as an operator does.
pub(crate) async fn operator(server: &Redis) -> redis::aio::MultiplexedConnection {
    let client = Client::open(server.url()).unwrap();
    client.get_multiplexed_async_connection().await.unwrap()
}

pub(crate) fn operation(key: &str) -> Operation {
    Operation::new("payments", "caller", &Key::parse(key).unwrap())
}

pub(crate) fn request() -> Fingerprint {
    FingerprintHasher::new("test").field("pay").finish()
}

pub(crate) fn terms() -> Terms {
    Terms::new(Duration::from_secs(30), Duration::from_secs(3600))
}

pub(crate) fn ask() -> Claim {
    Claim::new(request(), terms(), OnExpired::Unknown)
}

pub(crate) fn record(body: &str) -> Record {
    Record::new(request(), Answer::new(StatusCode::OK, body.to_owned()))
}

/// The effects of a service elsewhere, by count.
#[derive(Clone, Default)]
pub(crate) struct Effects(Arc<AtomicUsize>);

impl Effects {
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// A limit below the tests' own, and leases that end in them.
pub(crate) fn engine<P: LeasePolicy>(
    store: RedisLeaseStore,
    policy: P,
) -> LeasedEngine<RedisLeaseStore, P> {
    let config = EngineConfig::default()
        .with_store_timeout(Duration::from_secs(1))
        .with_lease(Duration::from_secs(3));
    LeasedEngine::new(store, policy, config)
}

/// One run of the work; in a word what came of it.
pub(crate) fn run<P: LeasePolicy>(
    engine: &LeasedEngine<RedisLeaseStore, P>,
    key: &str,
    effects: &Effects,
) -> impl Future<Output = &'static str> + Send + use<P> {
    let effects = effects.clone();
    let execution = engine.execute(operation(key), request(), move |_| async move {
        effects.0.fetch_add(1, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(2)).await;
        Worked::commit((), Answer::new(StatusCode::OK, "paid"))
    });
    async move {
        match execution.await {
            Ok(Executed::Ran(())) => "ran",
            Ok(Executed::Replayed(record)) => {
                assert_eq!(record.answer.body, "paid");
                "replayed"
            }
            Err(Refused::InProgress) => "in progress",
            Err(Refused::OutcomeUnknown) => "unknown",
            Err(Refused::StoreUnavailable(_)) => "unavailable",
            other => panic!("{other:?}"),
        }
    }
}
