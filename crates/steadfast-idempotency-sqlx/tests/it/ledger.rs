use std::path::PathBuf;
use std::time::Duration;

use http::StatusCode;
use sqlx::sqlite::SqliteConnectOptions;
use steadfast_idempotency::Key;
use steadfast_idempotency::server::{
    Answer, Engine, EngineConfig, Executed, Fingerprint, FingerprintHasher, Operation, Refused,
    TransactionSlot, TxStore, Worked,
};
use steadfast_idempotency_sqlx::{SqliteStore, SqliteTx};
use tempfile::TempDir;

/// A database file with one table of the application's own.
pub(crate) struct Ledger {
    pub(crate) store: SqliteStore,
    pub(crate) path: PathBuf,
    _directory: TempDir,
}

impl Ledger {
    pub(crate) async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ledger.sqlite");
        let store = SqliteStore::open(&path).await.unwrap();
        sqlx::raw_sql("CREATE TABLE charge (key TEXT NOT NULL, cents INTEGER CHECK (cents > 0))")
            .execute(store.writer())
            .await
            .unwrap();
        Self {
            store,
            path,
            _directory: directory,
        }
    }

    pub(crate) fn engine(&self) -> Engine<SqliteStore> {
        Engine::new(self.store.clone(), EngineConfig::default())
    }

    /// The same file as another process would open it, with little patience for locks.
    pub(crate) async fn impatient(&self) -> SqliteStore {
        let options = SqliteConnectOptions::new()
            .filename(&self.path)
            .busy_timeout(Duration::from_millis(20));
        SqliteStore::open_with(options).await.unwrap()
    }

    /// How many charges are committed.
    pub(crate) async fn charges(&self) -> i64 {
        count(&self.store, "SELECT count(*) FROM charge").await
    }

    /// How many records are committed.
    pub(crate) async fn records(&self) -> i64 {
        count(&self.store, "SELECT count(*) FROM steadfast_idempotency").await
    }
}

pub(crate) async fn count(store: &SqliteStore, query: &'static str) -> i64 {
    sqlx::query_scalar(query)
        .fetch_one(store.reader())
        .await
        .unwrap()
}

pub(crate) fn operation(key: &str) -> Operation {
    Operation::new("default", "caller", &Key::parse(key).unwrap())
}

pub(crate) fn payload() -> Fingerprint {
    FingerprintHasher::new("test").field("payload").finish()
}

/// One charge in the request's transaction, and a receipt.
pub(crate) async fn charge(slot: TransactionSlot<SqliteTx>) -> Worked<&'static str> {
    insert(&slot, 4200).await.unwrap();
    Worked::commit("ran", Answer::new(StatusCode::CREATED, "receipt"))
}

pub(crate) async fn insert(slot: &TransactionSlot<SqliteTx>, cents: i64) -> sqlx::Result<()> {
    let mut tx = slot.take().unwrap();
    sqlx::query("INSERT INTO charge (key, cents) VALUES ('k', ?1)")
        .bind(cents)
        .execute(&mut **tx)
        .await?;
    Ok(())
}

/// What an execution came to, in a word.
pub(crate) fn word<T>(outcome: &Result<Executed<T>, Refused>) -> &'static str {
    match outcome {
        Ok(Executed::Ran(_)) => "ran",
        Ok(Executed::Replayed(_)) => "replayed",
        Err(Refused::InProgress) => "in progress",
        Err(Refused::KeyReused) => "reused",
        Err(Refused::StoreUnavailable(_)) => "unavailable",
        Err(Refused::TransactionEnded(_)) => "ended",
        Err(Refused::TransactionNotReturned) => "not returned",
        Err(Refused::TransactionNotUsed) => "not used",
        _ => "other",
    }
}

pub(crate) async fn run<St>(engine: &Engine<St>, key: &str) -> &'static str
where
    St: TxStore<Tx = SqliteTx>,
{
    word(&engine.execute(operation(key), payload(), charge).await)
}
