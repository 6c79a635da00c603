//! The same mistakes, and one of its own, over PostgreSQL.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use sqlx::{PgConnection, PgPool, Postgres, Transaction};
use steadfast_idempotency::server::{Began, Operation, Record, StoreError, TxStore};
use steadfast_idempotency_sqlx::PgStore;
use tokio::time::sleep;

use crate::design::Design;
use crate::flawed::GAP;
use crate::sweeper::Sweep;

/// A store with the mistake of its design.
#[derive(Clone)]
pub(crate) struct FlawedPgStore {
    /// For what is not a mistake: plain reads.
    sound: PgStore,
    pool: PgPool,
    design: Design,
}

/// The transaction of the effect; what is kept of it waits for the commit.
pub(crate) struct FlawedPgTx {
    inner: Transaction<'static, Postgres>,
    kept: Option<(Operation, Record)>,
}

impl FlawedPgStore {
    pub(crate) fn new(sound: PgStore, pool: PgPool, design: Design) -> Self {
        Self {
            sound,
            pool,
            design,
        }
    }

    async fn open(&self, operation: &Operation) -> Result<Began<FlawedPgTx>, sqlx::Error> {
        let mut inner = self.pool.begin().await?;
        // What the statement reads is as old as its begin, which is before it has the lock.
        let found: Option<(bool, Option<i16>)> = sqlx::query_as(
            "SELECT pg_advisory_xact_lock(hashtext($1)) IS NULL, (
                SELECT status FROM steadfast_idempotency
                WHERE namespace = $2 AND scope = $3 AND key = $1)",
        )
        .bind(operation.key().as_str())
        .bind(operation.namespace())
        .bind(operation.scope())
        .fetch_optional(&mut *inner)
        .await?;
        if found.is_some_and(|(_, status)| status.is_some()) {
            inner.rollback().await?;
            return Ok(Began::Busy);
        }
        sqlx::query("SAVEPOINT effect").execute(&mut *inner).await?;
        Ok(Began::Fresh(FlawedPgTx { inner, kept: None }))
    }

    async fn finish(&self, mut tx: FlawedPgTx) -> Result<(), sqlx::Error> {
        let Some((operation, record)) = tx.kept.take() else {
            return tx.inner.commit().await;
        };
        if self.design == Design::KeyAfterEffect {
            tx.inner.commit().await?;
            sleep(GAP).await;
            return write(&mut *self.pool.acquire().await?, &operation, &record).await;
        }
        write(&mut tx.inner, &operation, &record).await?;
        tx.inner.commit().await
    }
}

/// Writes without the constraint that the store has: the last one stays.
async fn write(
    connection: &mut PgConnection,
    operation: &Operation,
    record: &Record,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO steadfast_idempotency (
            namespace, scope, key, version, fingerprint_algorithm, fingerprint, status, headers,
            body, created_at, expires_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, now(), now() + interval '1 day')
        ON CONFLICT (namespace, scope, key) DO UPDATE
        SET status = excluded.status, headers = excluded.headers, body = excluded.body",
    )
    .bind(operation.namespace())
    .bind(operation.scope())
    .bind(operation.key().as_str())
    .bind(i32::from(record.version))
    .bind(i32::from(record.fingerprint.algorithm()))
    .bind(&record.fingerprint.digest()[..])
    .bind(i32::from(record.answer.status.as_u16()))
    .bind(record.answer.encode_headers())
    .bind(&record.answer.body[..])
    .execute(connection)
    .await?;
    Ok(())
}

impl TxStore for FlawedPgStore {
    type Tx = FlawedPgTx;

    async fn find(&self, operation: &Operation) -> Result<Option<Record>, StoreError> {
        self.sound.find(operation).await
    }

    async fn begin(&self, operation: &Operation) -> Result<Began<FlawedPgTx>, StoreError> {
        self.open(operation).await.map_err(StoreError::unavailable)
    }

    async fn rollback_effect(&self, tx: &mut FlawedPgTx) -> Result<(), StoreError> {
        let undone = sqlx::query("ROLLBACK TO SAVEPOINT effect")
            .execute(&mut *tx.inner)
            .await;
        undone.map_err(StoreError::unavailable)?;
        Ok(())
    }

    async fn record(
        &self,
        tx: &mut FlawedPgTx,
        operation: &Operation,
        record: &Record,
        _: Duration,
    ) -> Result<(), StoreError> {
        tx.kept = Some((operation.clone(), record.clone()));
        Ok(())
    }

    async fn commit(&self, tx: FlawedPgTx) -> Result<(), StoreError> {
        self.finish(tx).await.map_err(StoreError::unavailable)
    }

    async fn rollback(&self, tx: FlawedPgTx) -> Result<(), StoreError> {
        tx.inner.rollback().await.map_err(StoreError::unavailable)
    }

    async fn resolve(&self, operation: &Operation) -> Result<Option<Record>, StoreError> {
        self.sound.resolve(operation).await
    }
}

impl Sweep for FlawedPgStore {
    async fn sweep_some(&self) -> Result<u64, sqlx::Error> {
        self.sound.sweep_some().await
    }
}

impl Deref for FlawedPgTx {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        &self.inner
    }
}

impl DerefMut for FlawedPgTx {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.inner
    }
}

impl fmt::Debug for FlawedPgTx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlawedPgTx").finish_non_exhaustive()
    }
}
