use http::StatusCode;
use steadfast_idempotency::server::{Answer, TransactionSlot, Worked};
use steadfast_idempotency_sqlx::SqliteTx;

use crate::ledger::{Ledger, insert, operation, payload, run, word};

async fn ending(slot: TransactionSlot<SqliteTx>, sql: &'static str, status: u16) -> Worked<()> {
    insert(&slot, 4200).await.unwrap();
    let mut tx = slot.take().unwrap();
    sqlx::raw_sql(sql).execute(&mut **tx).await.unwrap();
    let answer = Answer::new(StatusCode::OK, "");
    match status {
        200 => Worked::commit((), answer),
        422 => Worked::store((), answer),
        _ => Worked::discard(()),
    }
}

#[tokio::test]
async fn a_handler_that_ends_the_transaction_by_hand_is_found_out() {
    let statements = [
        "COMMIT",
        "ROLLBACK",
        "COMMIT; BEGIN IMMEDIATE",
        "RELEASE steadfast_effect; COMMIT",
    ];
    for sql in statements {
        for status in [200, 422, 500] {
            let ledger = Ledger::new().await;
            let engine = ledger.engine();
            let work = move |slot| ending(slot, sql, status);
            let outcome = engine.execute(operation("k"), payload(), work).await;
            assert_eq!(word(&outcome), "ended", "{sql} {status} {outcome:?}");
            assert_eq!(ledger.records().await, 0, "{sql} {status}");
            // The connection is fit for the next handler, or replaced.
            assert_eq!(run(&engine, "other").await, "ran", "{sql} {status}");
        }
    }
}

#[tokio::test]
async fn a_guard_leaked_into_a_task_is_found_out_and_its_writes_are_gone() {
    let ledger = Ledger::new().await;
    let engine = ledger.engine();
    let (release, released) = tokio::sync::oneshot::channel::<()>();
    let (done, finished) = tokio::sync::oneshot::channel::<()>();
    let work = move |slot: TransactionSlot<SqliteTx>| async move {
        let mut tx = slot.take().unwrap();
        tokio::spawn(async move {
            released.await.unwrap();
            sqlx::raw_sql("INSERT INTO charge (key, cents) VALUES ('late', 1)")
                .execute(&mut **tx)
                .await
                .unwrap();
            drop(tx);
            done.send(()).unwrap();
        });
        Worked::commit((), Answer::new(StatusCode::OK, ""))
    };
    let outcome = engine.execute(operation("k"), payload(), work).await;
    assert_eq!(word(&outcome), "not returned");
    release.send(()).unwrap();
    finished.await.unwrap();
    assert_eq!(run(&engine, "k").await, "ran");
    assert_eq!((ledger.charges().await, ledger.records().await), (1, 1));
}

#[tokio::test]
async fn a_handler_that_uses_another_connection_is_found_out() {
    let ledger = Ledger::new().await;
    let engine = ledger.engine();
    let pool = ledger.impatient().await.writer().clone();
    let work = async move |_: TransactionSlot<SqliteTx>| {
        let written = sqlx::query("INSERT INTO charge (key, cents) VALUES ('outside', 1)")
            .execute(&pool)
            .await;
        assert!(written.is_err(), "the writer is the request's own");
        Worked::commit((), Answer::new(StatusCode::OK, ""))
    };
    let outcome = engine.execute(operation("k"), payload(), work).await;
    assert_eq!(word(&outcome), "not used");
    assert_eq!((ledger.charges().await, ledger.records().await), (0, 0));
}
