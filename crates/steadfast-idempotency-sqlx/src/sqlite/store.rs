use std::time::Duration;

use steadfast_idempotency::server::{Began, Operation, Record, StoreError, TxStore};

use super::SqliteStore;
use super::row;
use super::tx::SqliteTx;

/// Where the handler's writes begin. It is also how a handler that ended the transaction is found
/// out: then the savepoint is gone.
const BEGIN: &str = "BEGIN IMMEDIATE; SAVEPOINT steadfast_effect";
const UNDO: &str = "ROLLBACK TO steadfast_effect";

impl TxStore for SqliteStore {
    type Tx = SqliteTx;

    async fn find(&self, operation: &Operation) -> Result<Option<Record>, StoreError> {
        let mut reader = self
            .reader
            .acquire()
            .await
            .map_err(StoreError::unavailable)?;
        row::find(&mut reader, operation)
            .await
            .map_err(StoreError::unavailable)
    }

    /// IMMEDIATE, because a deferred transaction that reads and then writes fails at once when
    /// somebody wrote in between, whatever the busy timeout. Never `Busy`: SQLite's one lock says
    /// nothing about this key, so a lock that stays taken is an unavailable store.
    async fn begin(&self, operation: &Operation) -> Result<Began<SqliteTx>, StoreError> {
        let tx = self.writer.begin_with(BEGIN).await;
        let mut tx = SqliteTx {
            inner: tx.map_err(StoreError::unavailable)?,
            marked: true,
        };
        let found = row::find(&mut tx, operation).await;
        if let Some(record) = found.map_err(StoreError::unavailable)? {
            self.rollback(tx).await?;
            return Ok(Began::Done(record));
        }
        Ok(Began::Fresh(tx))
    }

    async fn rollback_effect(&self, tx: &mut SqliteTx) -> Result<(), StoreError> {
        execute(tx, UNDO).await.map_err(ended_or_unavailable)
    }

    async fn record(
        &self,
        tx: &mut SqliteTx,
        operation: &Operation,
        record: &Record,
        retention: Duration,
    ) -> Result<(), StoreError> {
        // Before it is gone: a drop in between must not let a rollback miss it.
        tx.marked = false;
        row::insert(tx, operation, record, retention)
            .await
            .map_err(ended_or_unavailable)
    }

    async fn commit(&self, tx: SqliteTx) -> Result<(), StoreError> {
        tx.inner.commit().await.map_err(StoreError::unavailable)
    }

    /// To the savepoint first: without it a handler that committed and began anew would pass.
    async fn rollback(&self, mut tx: SqliteTx) -> Result<(), StoreError> {
        if tx.marked {
            execute(&mut tx, UNDO).await.map_err(ended_or_unavailable)?;
        }
        tx.inner.rollback().await.map_err(ended_or_unavailable)
    }

    /// The write lock is taken first: having it shows that the lost commit has ended.
    async fn resolve(&self, operation: &Operation) -> Result<Option<Record>, StoreError> {
        let tx = self.writer.begin_with("BEGIN IMMEDIATE").await;
        let mut tx = tx.map_err(StoreError::unavailable)?;
        row::find(&mut tx, operation)
            .await
            .map_err(StoreError::unavailable)
    }
}

async fn execute(tx: &mut SqliteTx, statement: &'static str) -> Result<(), sqlx::Error> {
    sqlx::query(statement).execute(&mut **tx).await?;
    Ok(())
}

/// SQLite answers SQLITE_ERROR (1) where the savepoint or the transaction is not there: after a SELECT
/// from the table of keys these
/// statements can fail with it for no other reason. Locks, I/O and full disks have other codes.
fn ended_or_unavailable(error: sqlx::Error) -> StoreError {
    const SQLITE_ERROR: &str = "1";
    let code = error.as_database_error().and_then(|error| error.code());
    match code.as_deref() {
        Some(SQLITE_ERROR) => StoreError::transaction_ended(error),
        _ => StoreError::unavailable(error),
    }
}
