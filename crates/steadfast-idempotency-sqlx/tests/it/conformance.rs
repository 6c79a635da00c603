//! Both stores against the suite that any store can be run against.

use std::error::Error;

use sqlx::raw_sql;
use steadfast_idempotency::conformance::{TxSubject, assert_tx_store};
use steadfast_idempotency_sqlx::{PgStore, PgTx, SqliteStore, SqliteTx};
use steadfast_servers::{PgBouncer, Postgres};

use crate::ledger::Ledger;
use crate::pg::PgLedger;

type BoxError = Box<dyn Error + Send + Sync>;

impl TxSubject for Ledger {
    type Store = SqliteStore;

    async fn open(&self) -> SqliteStore {
        SqliteStore::open(&self.path).await.unwrap()
    }

    async fn write(&self, tx: &mut SqliteTx, effect: &str) -> Result<(), BoxError> {
        sqlx::query("INSERT INTO charge (key, cents) VALUES (?1, 1)")
            .bind(effect)
            .execute(&mut **tx)
            .await?;
        Ok(())
    }

    async fn effects(&self) -> Vec<String> {
        let effects = sqlx::query_scalar("SELECT key FROM charge");
        effects.fetch_all(self.store.reader()).await.unwrap()
    }

    async fn fail(&self, tx: &mut SqliteTx) -> bool {
        raw_sql("INSERT INTO charge (key, cents) VALUES ('k', -1)")
            .execute(&mut **tx)
            .await
            .is_err()
    }

    async fn end_by_hand(&self, tx: &mut SqliteTx) -> bool {
        raw_sql("COMMIT").execute(&mut **tx).await.is_ok()
    }
}

impl TxSubject for PgLedger {
    type Store = PgStore;

    async fn open(&self) -> PgStore {
        self.other().await
    }

    async fn write(&self, tx: &mut PgTx, effect: &str) -> Result<(), BoxError> {
        sqlx::query("INSERT INTO charge (key, cents) VALUES ($1, 1)")
            .bind(effect)
            // As handlers behind a PgBouncer do that tracks no prepared statements.
            .persistent(false)
            .execute(&mut **tx)
            .await?;
        Ok(())
    }

    async fn effects(&self) -> Vec<String> {
        let effects = sqlx::query_scalar("SELECT key FROM charge");
        effects.fetch_all(&self.pool).await.unwrap()
    }

    async fn fail(&self, tx: &mut PgTx) -> bool {
        raw_sql("INSERT INTO charge (key, cents) VALUES ('k', -1)")
            .execute(&mut **tx)
            .await
            .is_err()
    }

    async fn end_by_hand(&self, tx: &mut PgTx) -> bool {
        raw_sql("COMMIT").execute(&mut **tx).await.is_ok()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_sqlite_store_keeps_every_promise_of_a_store() {
    assert_tx_store(Ledger::new).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_postgres_store_keeps_every_promise_of_a_store() {
    let Some(server) = Postgres::shared() else {
        return;
    };
    assert_tx_store(async || PgLedger::on(server).await).await;
}

/// Behind it no connection of the store's is a session of the server's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_postgres_store_keeps_its_promises_behind_a_pgbouncer() {
    let Some(server) = Postgres::shared() else {
        return;
    };
    let Some(bouncer) = PgBouncer::before(server) else {
        return;
    };
    assert_tx_store(async || {
        let mut ledger = PgLedger::on(server).await;
        ledger.url = bouncer.through(&ledger.url, server);
        ledger
    })
    .await;
}
