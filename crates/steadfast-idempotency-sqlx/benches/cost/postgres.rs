use sqlx::postgres::PgPoolOptions;
use sqlx::{AssertSqlSafe, PgConnection, PgPool, raw_sql};
use steadfast_idempotency::server::{Engine, TransactionSlot, Worked};
use steadfast_idempotency_sqlx::{PgStore, PgTx};
use steadfast_servers::Postgres;

use super::{
    ACCOUNTS, BODY, CLIENTS, ROUNDS, Series, Shape, answer, engine, execute, head, operation, rate,
    runs, tell,
};

async fn effect(connection: &mut PgConnection, shape: Shape, at: i64) -> sqlx::Result<()> {
    if shape == Shape::Transfer {
        sqlx::query("UPDATE account SET cents = cents - $2 WHERE id = $1")
            .bind(at % ACCOUNTS)
            .bind(42_i64)
            .execute(&mut *connection)
            .await?;
        sqlx::query("INSERT INTO outbox (topic, message) VALUES ($1, $2)")
            .bind("charged")
            .bind(BODY)
            .execute(&mut *connection)
            .await?;
    }
    sqlx::query("INSERT INTO charge (account, cents) VALUES ($1, $2)")
        .bind(at % ACCOUNTS)
        .bind(42_i64)
        .execute(connection)
        .await?;
    Ok(())
}

async fn bare(pool: PgPool, shape: Shape, at: i64) {
    let mut tx = pool.begin().await.unwrap();
    effect(&mut tx, shape, at).await.unwrap();
    tx.commit().await.unwrap();
}

async fn handler(slot: TransactionSlot<PgTx>, shape: Shape, at: i64) -> Worked<()> {
    let mut tx = slot.take().unwrap();
    effect(&mut tx, shape, at).await.unwrap();
    Worked::commit((), answer())
}

fn pool() -> PgPoolOptions {
    // The bare handler, too, saves the test of a connection before each use.
    PgPoolOptions::new()
        .max_connections(CLIENTS as u32)
        .min_connections(CLIENTS as u32)
        .test_before_acquire(false)
}

pub(super) async fn measure() {
    let Some(server) = Postgres::start() else {
        return;
    };
    let url = server.database();
    let bare_pool = pool().connect(&url).await.unwrap();
    let store = PgStore::open_with(pool(), url.parse().unwrap())
        .await
        .unwrap();
    store.migrate().await.unwrap();
    raw_sql(AssertSqlSafe(format!(
        "CREATE TABLE charge (
             id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, account bigint, cents bigint);
         CREATE INDEX ON charge (account);
         CREATE TABLE account (id bigint PRIMARY KEY, cents bigint);
         INSERT INTO account SELECT n, 0 FROM generate_series(0, {ACCOUNTS}) n;
         CREATE TABLE outbox (
             id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, topic text, message bytea)"
    )))
    .execute(&bare_pool)
    .await
    .unwrap();
    let engine = engine(store);
    for (keys, shape) in runs() {
        fill(&bare_pool, keys).await;
        head("PostgreSQL", keys, shape);
        let mut series = <[Series; 3]>::default();
        // Once for the caches, unrecorded.
        for round in 0..=ROUNDS {
            let name = format!("{keys}-{shape:?}-{round}");
            let rates = one_round(&bare_pool, &engine, shape, name).await;
            for (series, rate) in series.iter_mut().zip(rates) {
                if round > 0 {
                    series.push(rate);
                }
            }
        }
        let [without, with, replay] = series;
        tell("its own transaction, no keys", &without, &without);
        tell("through the engine", &with, &without);
        tell("a replay", &replay, &without);
    }
}

async fn one_round(
    pool: &PgPool,
    engine: &Engine<PgStore>,
    shape: Shape,
    name: String,
) -> [f64; 3] {
    let pool = pool.clone();
    let without = rate(move |at| bare(pool.clone(), shape, at as i64)).await;
    let run = |fresh| {
        let (engine, name) = (engine.clone(), name.clone());
        rate(move |at| {
            let work = move |slot| handler(slot, shape, at as i64);
            execute(engine.clone(), operation(&name, at), fresh, work)
        })
    };
    [without, run(true).await, run(false).await]
}

async fn fill(pool: &PgPool, keys: usize) {
    raw_sql(AssertSqlSafe(format!(
        "TRUNCATE steadfast_idempotency; TRUNCATE charge; TRUNCATE outbox;
         INSERT INTO steadfast_idempotency
         SELECT 'bench', 'caller', md5(n::text), 1, 1, decode(repeat('00', 32), 'hex'), NULL, NULL,
             201, '', decode(repeat('78', 200), 'hex'), now(), now() + interval '3 days'
         FROM generate_series(1, {keys}) n"
    )))
    .execute(pool)
    .await
    .unwrap();
    raw_sql("VACUUM ANALYZE steadfast_idempotency")
        .execute(pool)
        .await
        .unwrap();
}
