//! Stores with one mistake each, over SQLite.

use std::collections::HashMap;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use sqlx::{Sqlite, SqliteConnection, SqlitePool, Transaction};
use steadfast_idempotency::server::{Began, Operation, Record, StoreError, TxStore};
use steadfast_idempotency_sqlx::SqliteStore;
use tokio::time::sleep;

use crate::design::Design;
use crate::sweeper::Sweep;

/// How wide the gap of a flawed design is: what a busy database makes of it, so that a short run
/// meets it.
pub(crate) const GAP: Duration = Duration::from_millis(25);

/// A store with the mistake of its design.
#[derive(Clone)]
pub(crate) struct FlawedStore {
    ledger: SqliteStore,
    keys: SqliteStore,
    design: Design,
    memory: Arc<Mutex<HashMap<Operation, Record>>>,
}

/// The transaction of the effect; what is kept of it waits for the commit.
pub(crate) struct FlawedTx {
    inner: Transaction<'static, Sqlite>,
    kept: Option<(Operation, Record)>,
    claimed: Option<Operation>,
}

impl FlawedStore {
    pub(crate) async fn open(
        ledger: SqliteStore,
        keys: SqliteStore,
        design: Design,
    ) -> Result<Self, sqlx::Error> {
        sqlx::raw_sql("CREATE TABLE IF NOT EXISTS claim (key TEXT PRIMARY KEY)")
            .execute(keys.writer())
            .await?;
        Ok(Self {
            ledger,
            keys,
            design,
            memory: Arc::default(),
        })
    }

    async fn look(&self, operation: &Operation) -> Result<Option<Record>, StoreError> {
        if self.design == Design::RegistryOnly {
            let memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
            return Ok(memory.get(operation).cloned());
        }
        let mut found = self.keys.find(operation).await?;
        if let Some(record) = &mut found
            && self.design == Design::AnswerRemade
        {
            let body = String::from_utf8_lossy(&record.answer.body).replace(':', ": ");
            record.answer.body = Bytes::from(body);
        }
        Ok(found)
    }

    async fn forget_claim(&self, claimed: Option<&Operation>) -> Result<(), sqlx::Error> {
        if let Some(operation) = claimed {
            sqlx::query("DELETE FROM claim WHERE key = $1")
                .bind(operation.key().as_str())
                .execute(self.keys.writer())
                .await?;
        }
        Ok(())
    }

    async fn finish(self, mut tx: FlawedTx) -> Result<(), sqlx::Error> {
        let Some((operation, record)) = tx.kept.take() else {
            return tx.inner.commit().await;
        };
        match self.design {
            Design::KeyAfterEffect => {
                tx.inner.commit().await?;
                sleep(GAP).await;
                write_down(self.keys.writer(), &operation, &record).await
            }
            Design::KeyElsewhere => {
                write_down(self.keys.writer(), &operation, &record).await?;
                sleep(GAP).await;
                tx.inner.commit().await
            }
            Design::RegistryOnly => {
                write(&mut tx.inner, &operation, &record).await?;
                tx.inner.commit().await?;
                let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
                memory.insert(operation, record);
                Ok(())
            }
            _ => {
                write(&mut tx.inner, &operation, &record).await?;
                tx.inner.commit().await?;
                self.forget_claim(tx.claimed.as_ref()).await
            }
        }
    }
}

/// Writes without the constraint that the store has: the last one stays.
async fn write(
    connection: &mut SqliteConnection,
    operation: &Operation,
    record: &Record,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT OR REPLACE INTO steadfast_idempotency (
            namespace, scope, key, version, fingerprint_algorithm, fingerprint, status, headers,
            body, created_at, expires_at)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, unixepoch(), unixepoch() + 100000)",
    )
    .bind(operation.namespace())
    .bind(operation.scope())
    .bind(operation.key().as_str())
    .bind(i64::from(record.version))
    .bind(i64::from(record.fingerprint.algorithm()))
    .bind(&record.fingerprint.digest()[..])
    .bind(i64::from(record.answer.status.as_u16()))
    .bind(record.answer.encode_headers())
    .bind(&record.answer.body[..])
    .execute(connection)
    .await?;
    Ok(())
}

/// The same in a transaction of its own.
pub(crate) async fn write_down(
    pool: &SqlitePool,
    operation: &Operation,
    record: &Record,
) -> Result<(), sqlx::Error> {
    write(&mut *pool.acquire().await?, operation, record).await
}

impl TxStore for FlawedStore {
    type Tx = FlawedTx;

    async fn find(&self, operation: &Operation) -> Result<Option<Record>, StoreError> {
        self.look(operation).await
    }

    async fn begin(&self, operation: &Operation) -> Result<Began<FlawedTx>, StoreError> {
        let mut claimed = None;
        if self.design == Design::ClaimWithoutEnd {
            let claim = sqlx::query("INSERT OR IGNORE INTO claim VALUES ($1)")
                .bind(operation.key().as_str())
                .execute(self.keys.writer())
                .await;
            if claim.map_err(StoreError::unavailable)?.rows_affected() == 0 {
                return Ok(Began::Busy);
            }
            claimed = Some(operation.clone());
        }
        let inner = self.ledger.writer().begin_with("BEGIN IMMEDIATE").await;
        let mut tx = FlawedTx {
            inner: inner.map_err(StoreError::unavailable)?,
            kept: None,
            claimed,
        };
        if self.design != Design::NoSecondLook
            && let Some(record) = self.look(operation).await?
        {
            self.rollback(tx).await?;
            return Ok(Began::Done(record));
        }
        execute(&mut tx, "SAVEPOINT effect").await?;
        Ok(Began::Fresh(tx))
    }

    async fn rollback_effect(&self, tx: &mut FlawedTx) -> Result<(), StoreError> {
        match self.design {
            Design::NoSavepoint => Ok(()),
            _ => execute(tx, "ROLLBACK TO effect").await,
        }
    }

    async fn record(
        &self,
        tx: &mut FlawedTx,
        operation: &Operation,
        record: &Record,
        _: Duration,
    ) -> Result<(), StoreError> {
        tx.kept = Some((operation.clone(), record.clone()));
        Ok(())
    }

    async fn commit(&self, tx: FlawedTx) -> Result<(), StoreError> {
        if self.design == Design::AnswerBeforeCommit {
            let store = self.clone();
            tokio::spawn(async move {
                sleep(GAP).await;
                let _ = store.finish(tx).await;
            });
            return Ok(());
        }
        let finished = self.clone().finish(tx).await;
        finished.map_err(StoreError::unavailable)
    }

    async fn rollback(&self, tx: FlawedTx) -> Result<(), StoreError> {
        let claimed = tx.claimed.clone();
        let ended = match self.design {
            Design::NoRollback => tx.inner.commit().await,
            _ => tx.inner.rollback().await,
        };
        ended.map_err(StoreError::unavailable)?;
        let forgotten = self.forget_claim(claimed.as_ref()).await;
        forgotten.map_err(StoreError::unavailable)
    }

    async fn resolve(&self, operation: &Operation) -> Result<Option<Record>, StoreError> {
        self.look(operation).await
    }
}

impl Sweep for FlawedStore {
    async fn sweep_some(&self) -> Result<u64, sqlx::Error> {
        self.keys.sweep_some().await
    }
}

async fn execute(tx: &mut FlawedTx, sql: &'static str) -> Result<(), StoreError> {
    let done = sqlx::query(sql).execute(&mut **tx).await;
    done.map_err(StoreError::unavailable)?;
    Ok(())
}

impl Deref for FlawedTx {
    type Target = SqliteConnection;

    fn deref(&self) -> &SqliteConnection {
        &self.inner
    }
}

impl DerefMut for FlawedTx {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        &mut self.inner
    }
}

impl fmt::Debug for FlawedTx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlawedTx").finish_non_exhaustive()
    }
}
