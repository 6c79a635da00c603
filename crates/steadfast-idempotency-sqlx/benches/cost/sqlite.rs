use sqlx::{AssertSqlSafe, SqliteConnection, raw_sql};
use steadfast_idempotency::server::{Began, Engine, TransactionSlot, TxStore, Worked};
use steadfast_idempotency_sqlx::{SqliteStore, SqliteTx};

use super::{
    ACCOUNTS, BODY, ROUNDS, Series, Shape, answer, engine, execute, head, operation, rate, runs,
    tell,
};

async fn effect(connection: &mut SqliteConnection, shape: Shape, at: i64) -> sqlx::Result<()> {
    if shape == Shape::Transfer {
        sqlx::query("UPDATE account SET cents = cents - ?2 WHERE id = ?1")
            .bind(at % ACCOUNTS)
            .bind(42_i64)
            .execute(&mut *connection)
            .await?;
        sqlx::query("INSERT INTO outbox (topic, message) VALUES (?1, ?2)")
            .bind("charged")
            .bind(BODY)
            .execute(&mut *connection)
            .await?;
    }
    sqlx::query("INSERT INTO charge (account, cents) VALUES (?1, ?2)")
        .bind(at % ACCOUNTS)
        .bind(42_i64)
        .execute(connection)
        .await?;
    Ok(())
}

/// On the same connection as the store's handlers, in the same mode: SQLite has one writer.
async fn bare(store: SqliteStore, shape: Shape, at: i64) {
    let mut tx = store.writer().begin_with("BEGIN IMMEDIATE").await.unwrap();
    effect(&mut tx, shape, at).await.unwrap();
    tx.commit().await.unwrap();
}

async fn handler(slot: TransactionSlot<SqliteTx>, shape: Shape, at: i64) -> Worked<()> {
    let mut tx = slot.take().unwrap();
    effect(&mut tx, shape, at).await.unwrap();
    Worked::commit((), answer())
}

pub(super) async fn measure() {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path().join("cost.sqlite"))
        .await
        .unwrap();
    raw_sql(AssertSqlSafe(format!(
        "CREATE TABLE charge (id INTEGER PRIMARY KEY, account INTEGER, cents INTEGER);
         CREATE INDEX charge_account ON charge (account);
         CREATE TABLE account (id INTEGER PRIMARY KEY, cents INTEGER);
         WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < {ACCOUNTS})
         INSERT INTO account SELECT n, 0 FROM numbers;
         CREATE TABLE outbox (id INTEGER PRIMARY KEY, topic TEXT, message BLOB)"
    )))
    .execute(store.writer())
    .await
    .unwrap();
    let engine = engine(store.clone());
    for (keys, shape) in runs() {
        fill(&store, keys).await;
        head("SQLite", keys, shape);
        let mut series = <[Series; 4]>::default();
        for round in 0..=ROUNDS {
            let name = format!("{keys}-{shape:?}-{round}");
            let rates = one_round(&store, &engine, shape, name).await;
            for (series, rate) in series.iter_mut().zip(rates) {
                if round > 0 {
                    series.push(rate);
                }
            }
        }
        let [without, with, replay, beside] = series;
        tell("its own transaction, no keys", &without, &without);
        tell("through the engine", &with, &without);
        tell("a replay", &replay, &without);
        tell("a replay while a writer holds the file", &beside, &without);
    }
}

async fn one_round(
    store: &SqliteStore,
    engine: &Engine<SqliteStore>,
    shape: Shape,
    name: String,
) -> [f64; 4] {
    let bare_store = store.clone();
    let without = rate(move |at| bare(bare_store.clone(), shape, at as i64)).await;
    let run = |fresh| {
        let (engine, name) = (engine.clone(), name.clone());
        rate(move |at| {
            let work = move |slot| handler(slot, shape, at as i64);
            execute(engine.clone(), operation(&name, at), fresh, work)
        })
    };
    let (with, replay) = (run(true).await, run(false).await);
    let Began::Fresh(mut writer) = store.begin(&operation("holds", 0)).await.unwrap() else {
        panic!("nobody did it");
    };
    effect(&mut writer, shape, 0).await.unwrap();
    let beside = run(false).await;
    store.rollback(writer).await.unwrap();
    [without, with, replay, beside]
}

async fn fill(store: &SqliteStore, keys: usize) {
    let mut tx = store.writer().begin_with("BEGIN IMMEDIATE").await.unwrap();
    raw_sql(AssertSqlSafe(format!(
        "DELETE FROM steadfast_idempotency; DELETE FROM charge; DELETE FROM outbox;
         WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {keys})
         INSERT INTO steadfast_idempotency
         SELECT 'bench', 'caller', lower(hex(randomblob(16))), 1, 1, zeroblob(32), NULL, NULL, 201,
             x'', zeroblob(200), unixepoch(), unixepoch() + 259200
         FROM numbers"
    )))
    .execute(&mut *tx)
    .await
    .unwrap();
    tx.commit().await.unwrap();
    raw_sql("PRAGMA wal_checkpoint(TRUNCATE); ANALYZE")
        .execute(store.writer())
        .await
        .unwrap();
}
