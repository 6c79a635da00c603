use http::StatusCode;
use sqlx::{PgPool, raw_sql};
use steadfast_idempotency::server::{Answer, Engine, EngineConfig, TransactionSlot, Worked};
use steadfast_idempotency_sqlx::{PgStore, PgTx};
use steadfast_servers::Postgres;

use crate::ledger::{operation, payload, word};

/// A database with one table of the application's own.
pub(crate) struct PgLedger {
    pub(crate) url: String,
    pub(crate) store: PgStore,
    /// The application's connections, outside of the store's.
    pub(crate) pool: PgPool,
}

impl PgLedger {
    /// A fresh database on the shared server. None, said loudly, where there is no PostgreSQL.
    pub(crate) async fn new() -> Option<Self> {
        Some(Self::on(Postgres::shared()?).await)
    }

    pub(crate) async fn on(server: &Postgres) -> Self {
        let url = server.database();
        let pool = sqlx::postgres::PgPoolOptions::new()
            .max_connections(4)
            .connect(&url)
            .await
            .unwrap();
        let url = format!("{url}?application_name=store");
        let store = PgStore::open(&url).await.unwrap();
        store.migrate().await.unwrap();
        raw_sql("CREATE TABLE charge (key text NOT NULL, cents bigint CHECK (cents > 0))")
            .execute(&pool)
            .await
            .unwrap();
        Self { url, store, pool }
    }

    pub(crate) fn engine(&self) -> Engine<PgStore> {
        Engine::new(self.store.clone(), EngineConfig::default())
    }

    /// One charge under this key, by an engine that knows of no other.
    pub(crate) async fn run(&self, key: &str) -> &'static str {
        run(&self.engine(), key).await
    }

    /// The store as another process has it.
    pub(crate) async fn other(&self) -> PgStore {
        PgStore::open(&self.url).await.unwrap()
    }

    pub(crate) async fn charges(&self) -> i64 {
        self.count("SELECT count(*) FROM charge").await
    }

    pub(crate) async fn records(&self) -> i64 {
        self.count("SELECT count(*) FROM steadfast_idempotency")
            .await
    }

    pub(crate) async fn count(&self, query: &'static str) -> i64 {
        sqlx::query_scalar(query)
            .fetch_one(&self.pool)
            .await
            .unwrap()
    }
}

pub(crate) async fn insert(tx: &mut PgTx, key: &str, cents: i64) -> sqlx::Result<()> {
    sqlx::query("INSERT INTO charge (key, cents) VALUES ($1, $2)")
        .bind(key)
        .bind(cents)
        .execute(&mut **tx)
        .await?;
    Ok(())
}

/// One charge in the request's transaction, and a receipt.
pub(crate) async fn charge(slot: TransactionSlot<PgTx>) -> Worked<&'static str> {
    let mut tx = slot.take().unwrap();
    match insert(&mut tx, "k", 4200).await {
        Ok(()) => Worked::commit("ran", Answer::new(StatusCode::CREATED, "receipt")),
        Err(_) => Worked::discard("failed"),
    }
}

pub(crate) async fn run(engine: &Engine<PgStore>, key: &str) -> &'static str {
    word(&engine.execute(operation(key), payload(), charge).await)
}
