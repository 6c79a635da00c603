use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::StatusCode;
use sqlx::PgPool;
use steadfast_idempotency::conformance::leases::{LeaseSubject, assert_lease_store};
use steadfast_idempotency::server::leased::{
    AtMostOnce, Claim, Claimed, LeaseStore, LeasedEngine, OnExpired, Terms,
};
use steadfast_idempotency::server::{Answer, EngineConfig, Executed, Refused, Worked};
use steadfast_idempotency_sqlx::PgLeaseStore;
use steadfast_servers::Postgres;

use crate::ledger::{operation, payload};

struct Leases {
    url: String,
    store: PgLeaseStore,
}

impl Leases {
    async fn on(server: &Postgres) -> Self {
        let url = server.database();
        let store = PgLeaseStore::open(&url).await.unwrap();
        store.migrate().await.unwrap();
        Self { url, store }
    }

    async fn pool(&self) -> PgPool {
        PgPool::connect(&self.url).await.unwrap()
    }
}

impl LeaseSubject for Leases {
    type Store = PgLeaseStore;

    async fn open(&self) -> PgLeaseStore {
        PgLeaseStore::beside(&self.pool().await)
    }

    async fn sweep(&self) {
        self.store.sweep(1_000).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_store_of_leases_keeps_every_promise() {
    let Some(server) = Postgres::shared() else {
        return;
    };
    assert_lease_store(async || Leases::on(server).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stricter_default_of_the_database_changes_nothing() {
    let Some(server) = Postgres::shared() else {
        return;
    };
    for level in ["repeatable read", "serializable"] {
        let leases = Leases::on(server).await;
        let pool = leases.pool().await;
        let name: String = sqlx::query_scalar("SELECT current_database()")
            .fetch_one(&pool)
            .await
            .unwrap();
        let sql =
            format!("ALTER DATABASE \"{name}\" SET default_transaction_isolation = '{level}'");
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql))
            .execute(&pool)
            .await
            .unwrap();
        let strict = Leases {
            store: PgLeaseStore::open(&leases.url).await.unwrap(),
            url: leases.url.clone(),
        };
        let effects = Effects::default();
        let engines = [engine(strict.open().await), engine(strict.open().await)];
        for at in 0..10 {
            let key = format!("k{at}");
            let racers = (0..4).map(|racer| run(&engines[racer % 2], &key, &effects));
            let racers: Vec<_> = racers.map(tokio::spawn).collect();
            for racer in racers {
                let came = racer.await.unwrap();
                assert!(
                    ["ran", "replayed", "in progress"].contains(&came),
                    "{level}: {came}"
                );
            }
            assert_eq!(effects.count(), at + 1);
        }
    }
}

#[derive(Clone, Default)]
struct Effects(Arc<AtomicUsize>);

impl Effects {
    fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

fn engine(store: PgLeaseStore) -> LeasedEngine<PgLeaseStore, AtMostOnce> {
    let config = EngineConfig::default().with_lease(Duration::from_secs(5));
    LeasedEngine::new(store, AtMostOnce::new(), config)
}

fn run(
    engine: &LeasedEngine<PgLeaseStore, AtMostOnce>,
    key: &str,
    effects: &Effects,
) -> impl Future<Output = &'static str> + Send + use<> {
    let effects = effects.clone();
    let execution = engine.execute(operation(key), payload(), move |_| async move {
        effects.0.fetch_add(1, Ordering::SeqCst);
        Worked::commit((), Answer::new(StatusCode::OK, "paid"))
    });
    async move {
        match execution.await {
            Ok(Executed::Ran(())) => "ran",
            Ok(Executed::Replayed(_)) => "replayed",
            Err(Refused::InProgress) => "in progress",
            Err(Refused::OutcomeUnknown) => "unknown",
            Err(Refused::StoreUnavailable(_)) => "unavailable",
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn restarts_and_killed_backends_repeat_no_effect_and_forget_no_lease() {
    let Some(server) = Postgres::start() else {
        return;
    };
    let leases = Leases::on(&server).await;
    let terms = Terms::new(Duration::from_secs(600), Duration::from_secs(600));
    let asked = Claim::new(payload(), terms, OnExpired::Unknown);
    let held = leases
        .store
        .claim(&operation("held"), &asked)
        .await
        .unwrap();
    let Claimed::Held { fence, .. } = held else {
        panic!("{held:?}");
    };
    let engine = engine(leases.store.clone());
    let effects = Effects::default();
    for at in 0..30 {
        match at % 10 {
            3 => {
                server.stop("QUIT");
                server.start_again();
            }
            6 => {
                let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE pid <> pg_backend_pid() AND datname = current_database()";
                let killer = leases.pool().await;
                sqlx::raw_sql(kill).execute(&killer).await.unwrap();
                killer.close().await;
            }
            _ => {}
        }
        let key = format!("k{at}");
        let asking = async {
            loop {
                match run(&engine, &key, &effects).await {
                    "unavailable" => tokio::time::sleep(Duration::from_millis(20)).await,
                    came => return came,
                }
            }
        };
        let came = tokio::time::timeout(Duration::from_secs(20), asking)
            .await
            .unwrap();
        assert_eq!(came, "ran", "{key}");
        assert_eq!(run(&engine, &key, &effects).await, "replayed");
    }
    assert_eq!(effects.count(), 30);
    let other = Claim::new(payload(), terms, OnExpired::Unknown);
    let held = leases
        .store
        .claim(&operation("held"), &other)
        .await
        .unwrap();
    assert!(matches!(held, Claimed::Running { .. }), "{held:?}");
    leases
        .store
        .release(&operation("held"), fence, terms)
        .await
        .unwrap();
    let again = leases
        .store
        .claim(&operation("held"), &other)
        .await
        .unwrap();
    assert!(matches!(again, Claimed::Held { fence: next, .. } if next > fence));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropped_at_any_await_a_claim_is_made_or_not_and_leaves_no_transaction() {
    let Some(server) = Postgres::shared() else {
        return;
    };
    let leases = Leases::on(server).await;
    let terms = Terms::new(Duration::from_secs(600), Duration::from_secs(600));
    for polls in 1..12 {
        let key = operation(&format!("k{polls}"));
        let asked = Claim::new(payload(), terms, OnExpired::Unknown);
        {
            let mut claim = Box::pin(leases.store.claim(&key, &asked));
            for _ in 0..polls {
                let polled = std::future::poll_fn(|cx| {
                    std::task::Poll::Ready(claim.as_mut().poll(cx).is_ready())
                });
                if polled.await {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
        // The same claim again is the same claim, and another one waits.
        let again = leases.store.claim(&key, &asked).await.unwrap();
        assert!(
            matches!(again, Claimed::Held { attempt: 1, .. }),
            "{again:?}"
        );
        let other = Claim::new(payload(), terms, OnExpired::Unknown);
        let other = leases.store.claim(&key, &other).await.unwrap();
        assert!(matches!(other, Claimed::Running { .. }), "{other:?}");
    }
    const OPEN: &str = "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND state LIKE 'idle in transaction%'";
    let open: i64 = sqlx::query_scalar(OPEN)
        .fetch_one(&leases.pool().await)
        .await
        .unwrap();
    assert_eq!(open, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replays_write_nothing() {
    let Some(server) = Postgres::shared() else {
        return;
    };
    let leases = Leases::on(server).await;
    let engine = engine(leases.store.clone());
    let effects = Effects::default();
    assert_eq!(run(&engine, "k", &effects).await, "ran");
    let pool = leases.pool().await;
    const WRITTEN: &str = "SELECT xmin::text || xmax::text FROM steadfast_lease";
    let before: String = sqlx::query_scalar(WRITTEN).fetch_one(&pool).await.unwrap();
    for _ in 0..3 {
        assert_eq!(run(&engine, "k", &effects).await, "replayed");
    }
    let after: String = sqlx::query_scalar(WRITTEN).fetch_one(&pool).await.unwrap();
    assert_eq!(after, before);
}
