//! The variant without a table of records: the key is the primary key of the effect.

use sqlx::{PgPool, Row, raw_sql};
use steadfast_idempotency::Key;

use super::PgLedger;

#[derive(Debug, PartialEq, Eq)]
enum Paid {
    Now(i64),
    Before(i64),
    OtherPayment,
}

/// One statement, no transaction, no store: the database decides who is first. `DO UPDATE` that
/// changes nothing waits for a first one that is still running, and gives its row.
async fn pay(pool: &PgPool, caller: &str, key: &Key, cents: i64) -> sqlx::Result<Paid> {
    let row = sqlx::query(
        "INSERT INTO payment (caller, key, cents) VALUES ($1, $2, $3)
         ON CONFLICT ON CONSTRAINT payment_key DO UPDATE SET key = excluded.key
         RETURNING receipt, cents, xmax = 0 AS fresh",
    )
    .bind(caller)
    .bind(key.as_str())
    .bind(cents)
    .fetch_one(pool)
    .await?;
    let (receipt, fresh) = (row.try_get("receipt")?, row.try_get("fresh")?);
    Ok(match row.try_get::<i64, _>("cents")? == cents {
        true if fresh => Paid::Now(receipt),
        true => Paid::Before(receipt),
        // The key was used for something else: 422, and nothing of it is shown.
        false => Paid::OtherPayment,
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_key_may_be_the_primary_key_of_the_effect() {
    let Some(ledger) = PgLedger::new().await else {
        return;
    };
    raw_sql(
        "CREATE TABLE payment (
            caller text NOT NULL, key text NOT NULL, cents bigint NOT NULL,
            receipt bigint GENERATED ALWAYS AS IDENTITY,
            CONSTRAINT payment_key PRIMARY KEY (caller, key))",
    )
    .execute(&ledger.pool)
    .await
    .unwrap();
    for at in 0..20 {
        let racers: Vec<_> = (0..4)
            .map(|_| {
                let pool = ledger.pool.clone();
                let key = Key::parse(&format!("k{at}")).unwrap();
                tokio::spawn(async move { pay(&pool, "a", &key, 4200).await.unwrap() })
            })
            .collect();
        let (mut fresh, mut receipts) = (0, Vec::new());
        for racer in racers {
            match racer.await.unwrap() {
                Paid::Now(receipt) => {
                    fresh += 1;
                    receipts.push(receipt);
                }
                Paid::Before(receipt) => receipts.push(receipt),
                Paid::OtherPayment => panic!("it is the same payment"),
            }
        }
        receipts.dedup();
        assert_eq!((fresh, receipts.len()), (1, 1), "one payment, one receipt");
    }
    let key = Key::parse("k0").unwrap();
    let other = pay(&ledger.pool, "a", &key, 1).await.unwrap();
    assert_eq!(other, Paid::OtherPayment);
    let stranger = pay(&ledger.pool, "b", &key, 1).await.unwrap();
    assert!(matches!(stranger, Paid::Now(_)), "callers never meet");
    let paid = "SELECT count(*) FROM payment";
    assert_eq!(ledger.count(paid).await, 21);
}
