use std::time::Duration;

use http::StatusCode;
use sqlx::postgres::PgPoolOptions;
use sqlx::{Connection, raw_sql};
use steadfast_idempotency::server::{
    Answer, Engine, EngineConfig, TransactionSlot, TxStore, Worked,
};
use steadfast_idempotency_sqlx::{PgStore, PgTx};

use super::PgLedger;
use super::ledger::{insert, run};
use crate::ledger::{operation, payload, word};

async fn ending(slot: TransactionSlot<PgTx>, sql: &'static str, status: u16) -> Worked<()> {
    let mut tx = slot.take().unwrap();
    insert(&mut tx, "k", 4200).await.unwrap();
    raw_sql(sql).execute(&mut **tx).await.unwrap();
    let answer = Answer::new(StatusCode::OK, "");
    match status {
        200 => Worked::commit((), answer),
        422 => Worked::store((), answer),
        _ => Worked::discard(()),
    }
}

#[tokio::test]
async fn a_handler_that_ends_the_transaction_by_hand_is_found_out() {
    let Some(ledger) = PgLedger::new().await else {
        return;
    };
    let engine = ledger.engine();
    let statements = [
        "COMMIT",
        "ROLLBACK",
        "COMMIT AND CHAIN",
        "COMMIT; BEGIN",
        "ROLLBACK; BEGIN",
    ];
    for (at, sql) in statements.into_iter().enumerate() {
        for status in [200, 422, 500] {
            let key = operation(&format!("{at}-{status}"));
            let work = move |slot| ending(slot, sql, status);
            let outcome = engine.execute(key, payload(), work).await;
            assert_eq!(word(&outcome), "ended", "{sql} {status} {outcome:?}");
            assert_eq!(ledger.records().await, 0, "{sql} {status}");
        }
    }
    // Whatever it left of its connection, the next handler gets a good one.
    assert_eq!(run(&engine, "next").await, "ran");
}

#[tokio::test]
async fn transactions_inside_the_transaction_are_savepoints() {
    let Some(ledger) = PgLedger::new().await else {
        return;
    };
    let nested = async |slot: TransactionSlot<PgTx>| {
        let mut tx = slot.take().unwrap();
        for cents in [1, -1, 2] {
            let mut inner = tx.begin().await.unwrap();
            let written = sqlx::query("INSERT INTO charge (key, cents) VALUES ('inner', $1)")
                .bind(cents)
                .execute(&mut *inner)
                .await;
            // What failed inside is undone on drop, and the handler goes on.
            if written.is_ok() {
                inner.commit().await.unwrap();
            }
        }
        drop(tx);
        Worked::commit("ran", Answer::new(StatusCode::OK, ""))
    };
    let engine = ledger.engine();
    let outcome = engine.execute(operation("k"), payload(), nested).await;
    assert_eq!(word(&outcome), "ran", "{outcome:?}");
    assert_eq!((ledger.charges().await, ledger.records().await), (2, 1));
}

/// PostgreSQL would answer such a COMMIT with a ROLLBACK, and no error.
#[tokio::test]
async fn a_handler_that_ignores_a_failed_statement_commits_nothing() {
    let Some(ledger) = PgLedger::new().await else {
        return;
    };
    let engine = ledger.engine();
    let ignores = async |slot: TransactionSlot<PgTx>| {
        let mut tx = slot.take().unwrap();
        insert(&mut tx, "k", 1).await.unwrap();
        insert(&mut tx, "k", -1).await.unwrap_err();
        Worked::commit((), Answer::new(StatusCode::OK, ""))
    };
    let outcome = engine.execute(operation("k"), payload(), ignores).await;
    assert_eq!(word(&outcome), "ended");
    assert_eq!((ledger.charges().await, ledger.records().await), (0, 0));

    let refuses = async |slot: TransactionSlot<PgTx>| {
        let mut tx = slot.take().unwrap();
        insert(&mut tx, "k", 1).await.unwrap();
        insert(&mut tx, "k", -1).await.unwrap_err();
        Worked::store("no", Answer::new(StatusCode::UNPROCESSABLE_ENTITY, "no"))
    };
    for expected in ["ran", "replayed"] {
        let outcome = engine.execute(operation("k"), payload(), refuses).await;
        assert_eq!(word(&outcome), expected);
    }
    assert_eq!((ledger.charges().await, ledger.records().await), (0, 1));
}

#[tokio::test]
async fn a_constraint_that_fails_at_commit_keeps_the_answer_back() {
    let Some(ledger) = PgLedger::new().await else {
        return;
    };
    raw_sql(
        "CREATE TABLE account (id bigint PRIMARY KEY);
         CREATE TABLE entry (account bigint REFERENCES account DEFERRABLE INITIALLY DEFERRED)",
    )
    .execute(&ledger.pool)
    .await
    .unwrap();
    let engine = ledger.engine();
    let work = async |slot: TransactionSlot<PgTx>| {
        let mut tx = slot.take().unwrap();
        raw_sql("INSERT INTO entry VALUES (7)")
            .execute(&mut **tx)
            .await
            .unwrap();
        Worked::commit((), Answer::new(StatusCode::OK, ""))
    };
    let outcome = engine.execute(operation("k"), payload(), work).await;
    assert_eq!(word(&outcome), "unavailable");
    assert_eq!(ledger.records().await, 0);
    assert_eq!(run(&engine, "k").await, "ran", "the key is free at once");
}

/// A store with one connection, to see what one transaction leaves to the next.
async fn single(ledger: &PgLedger) -> PgStore {
    let options = PgPoolOptions::new().max_connections(1);
    let connect = ledger.url.parse().unwrap();
    PgStore::open_with(options, connect).await.unwrap()
}

#[tokio::test]
async fn nothing_of_a_transaction_stays_in_its_session() {
    let Some(ledger) = PgLedger::new().await else {
        return;
    };
    let store = single(&ledger).await;
    let engine = Engine::new(store.clone(), EngineConfig::default());
    // The first one's own statement is prepared by sqlx, as the application's setting is.
    let simple = async |slot: TransactionSlot<PgTx>| {
        let mut tx = slot.take().unwrap();
        let sql = "INSERT INTO charge (key, cents) VALUES ('k', 1)";
        raw_sql(sql).execute(&mut **tx).await.unwrap();
        Worked::commit((), Answer::new(StatusCode::OK, ""))
    };
    for key in ["a", "b", "a"] {
        engine
            .execute(operation(key), payload(), simple)
            .await
            .unwrap();
    }
    let left = async |slot: TransactionSlot<PgTx>| {
        let mut tx = slot.take().unwrap();
        raw_sql("COMMIT").execute(&mut **tx).await.unwrap();
        let rows = raw_sql(
            "SELECT (SELECT count(*) FROM pg_prepared_statements) \
             + (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()) \
             + (SELECT count(*) FROM pg_settings WHERE source = 'session' \
                AND name IN ('statement_timeout', 'idle_in_transaction_session_timeout', \
                             'client_connection_check_interval', 'lock_timeout'))",
        )
        .fetch_all(&mut **tx)
        .await
        .unwrap();
        let left: i64 = sqlx::Row::get(&rows[0], 0);
        Worked::discard(left)
    };
    let (tell, told) = tokio::sync::oneshot::channel();
    let work = move |slot| async move {
        let worked = left(slot).await;
        tell.send(worked.value).unwrap();
        worked
    };
    engine
        .execute(operation("look"), payload(), work)
        .await
        .unwrap_err();
    assert_eq!(told.await.unwrap(), 0);
}

#[tokio::test]
async fn a_transaction_has_its_limits_and_read_committed() {
    let Some(ledger) = PgLedger::new().await else {
        return;
    };
    raw_sql(
        "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = serializable', current_database()); END $$",
    )
    .execute(&ledger.pool)
    .await
    .unwrap();
    let store = ledger.other().await;
    let mut tx = match store.begin(&operation("k")).await.unwrap() {
        steadfast_idempotency::server::Began::Fresh(tx) => tx,
        other => panic!("{other:?}"),
    };
    for (name, value) in [
        ("transaction_isolation", "read committed"),
        ("statement_timeout", "30s"),
        ("idle_in_transaction_session_timeout", "35s"),
        ("client_connection_check_interval", "1s"),
    ] {
        let seen: String = sqlx::query_scalar("SELECT current_setting($1)")
            .bind(name)
            .fetch_one(&mut *tx)
            .await
            .unwrap();
        assert_eq!(seen, value, "{name}");
    }
}

/// What a process that froze, or whose network is gone, comes to.
#[tokio::test]
async fn a_silent_owner_loses_its_key_at_the_idle_limit() {
    let Some(ledger) = PgLedger::new().await else {
        return;
    };
    let store = single(&ledger)
        .await
        .with_idle_limit(Duration::from_millis(200));
    let silent = store.begin(&operation("k")).await.unwrap();
    let engine = ledger.engine();
    assert_eq!(run(&engine, "k").await, "in progress");
    let freed = async { while run(&engine, "k").await == "in progress" {} };
    tokio::time::timeout(Duration::from_secs(10), freed)
        .await
        .unwrap();
    assert_eq!(run(&engine, "k").await, "replayed");
    drop(silent);
}

#[tokio::test]
async fn a_statement_ends_at_its_limit() {
    let Some(ledger) = PgLedger::new().await else {
        return;
    };
    let store = single(&ledger)
        .await
        .with_statement_limit(Duration::from_millis(50));
    let engine = Engine::new(store, EngineConfig::default());
    let slow = async |slot: TransactionSlot<PgTx>| {
        let mut tx = slot.take().unwrap();
        let slept = raw_sql("SELECT pg_sleep(60)").execute(&mut **tx).await;
        assert!(slept.is_err());
        Worked::discard(())
    };
    let outcome = engine.execute(operation("k"), payload(), slow).await;
    assert_eq!(word(&outcome), "ran");
    assert_eq!(
        run(&engine, "k").await,
        "ran",
        "the connection is fit for the next"
    );
}
