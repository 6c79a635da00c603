use std::time::Duration;

use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};
use steadfast_idempotency::OperationKey;
use steadfast_idempotency::server::StoreError;
use steadfast_idempotency::server::outbox::{Dispatch, Message, Outbox};

use super::SqliteStore;

/// The outbox in the file of a [`SqliteStore`].
///
/// Handlers [`push`](Self::push) in their transaction, and a
/// [`Relay`](steadfast_idempotency::server::outbox::Relay) over this sends what committed. Clones
/// share the store's connections.
#[derive(Clone, Debug)]
pub struct SqliteOutbox {
    store: SqliteStore,
}

// A look that takes no writer: most are at an empty table.
const DUE: &str = "
    SELECT EXISTS (SELECT 1 FROM steadfast_outbox
        WHERE sent_at IS NULL AND buried_at IS NULL
        AND due_at <= CAST(unixepoch('subsec') * 1000 AS INTEGER))";
const TAKE: &str = "
    UPDATE steadfast_outbox
    SET attempts = attempts + 1, due_at = CAST(unixepoch('subsec') * 1000 AS INTEGER) + ?1
    WHERE id = (SELECT id FROM steadfast_outbox
        WHERE sent_at IS NULL AND buried_at IS NULL
        AND due_at <= CAST(unixepoch('subsec') * 1000 AS INTEGER)
        ORDER BY due_at, id LIMIT 1)
    RETURNING id, attempts, topic, key, body";
const PUSH: &str = "
    INSERT INTO steadfast_outbox (topic, key, body, due_at, created_at)
    VALUES (?1, ?2, ?3, CAST(unixepoch('subsec') * 1000 AS INTEGER),
        CAST(unixepoch('subsec') * 1000 AS INTEGER))";
const SENT: &str = "
    UPDATE steadfast_outbox
    SET sent_at = CAST(unixepoch('subsec') * 1000 AS INTEGER), buried_at = NULL
    WHERE id = ?1 AND sent_at IS NULL";
const POSTPONE: &str = "
    UPDATE steadfast_outbox SET due_at = CAST(unixepoch('subsec') * 1000 AS INTEGER) + ?3
    WHERE id = ?1 AND attempts = ?2 AND sent_at IS NULL AND buried_at IS NULL";
const BURY: &str = "
    UPDATE steadfast_outbox SET buried_at = CAST(unixepoch('subsec') * 1000 AS INTEGER)
    WHERE id = ?1 AND attempts = ?2 AND sent_at IS NULL";
const BURIED: &str = "
    SELECT id, attempts, topic, key, body FROM steadfast_outbox
    WHERE buried_at IS NOT NULL ORDER BY id LIMIT ?1";
const REDRIVE: &str = "
    UPDATE steadfast_outbox
    SET buried_at = NULL, due_at = CAST(unixepoch('subsec') * 1000 AS INTEGER)
    WHERE id = ?1 AND buried_at IS NOT NULL";
const SWEEP: &str = "
    DELETE FROM steadfast_outbox WHERE id IN (
        SELECT id FROM steadfast_outbox
        WHERE sent_at < CAST(unixepoch('subsec') * 1000 AS INTEGER) - ?1
        ORDER BY id LIMIT ?2)";

impl SqliteOutbox {
    /// The outbox in the store's file; its table is made where it is missing.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub async fn open(store: &SqliteStore) -> Result<Self, sqlx::Error> {
        let mut tx = store.writer().begin_with("BEGIN IMMEDIATE").await?;
        sqlx::raw_sql(include_str!("../../schema/sqlite_outbox.sql"))
            .execute(&mut *tx)
            .await?;
        tx.commit().await?;
        let store = store.clone();
        Ok(Self { store })
    }

    /// Writes a message that is sent if the transaction commits, and not otherwise.
    ///
    /// # Errors
    ///
    /// The file cannot be written, or the topic has a message with this key.
    pub async fn push(tx: &mut SqliteConnection, message: &Message) -> Result<(), sqlx::Error> {
        sqlx::query(PUSH)
            .bind(&message.topic)
            .bind(message.key.as_str())
            .bind(&message.body[..])
            .execute(tx)
            .await?;
        Ok(())
    }

    /// What is not sent any more, oldest first.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub async fn buried(&self, limit: u32) -> Result<Vec<Dispatch>, sqlx::Error> {
        let rows = sqlx::query(BURIED).bind(limit);
        let rows = rows.fetch_all(self.store.reader()).await?;
        rows.iter().map(dispatch).collect()
    }

    /// Makes a buried message due once more; what it has been through is not forgotten. False: it
    /// is not buried.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub async fn redrive(&self, id: i64) -> Result<bool, sqlx::Error> {
        let done = sqlx::query(REDRIVE).bind(id).execute(self.store.writer());
        Ok(done.await?.rows_affected() > 0)
    }

    /// Deletes at most `limit` messages that were sent longer ago than this, and says how many.
    /// Until then their keys cannot be pushed again.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub async fn sweep(&self, sent_before: Duration, limit: u32) -> Result<u64, sqlx::Error> {
        let swept = sqlx::query(SWEEP).bind(millis(sent_before)).bind(limit);
        Ok(swept.execute(self.store.writer()).await?.rows_affected())
    }
}

impl Outbox for SqliteOutbox {
    async fn take(&self, lease: Duration) -> Result<Option<Dispatch>, StoreError> {
        let taken = async {
            let due: bool = sqlx::query_scalar(DUE)
                .fetch_one(self.store.reader())
                .await?;
            if !due {
                return Ok(None);
            }
            let row = sqlx::query(TAKE).bind(millis(lease));
            let row = row.fetch_optional(self.store.writer()).await?;
            row.as_ref().map(dispatch).transpose()
        };
        taken
            .await
            .map_err(|error: sqlx::Error| StoreError::unavailable(error))
    }

    async fn sent(&self, dispatch: &Dispatch) -> Result<(), StoreError> {
        let sent = sqlx::query(SENT)
            .bind(dispatch.id)
            .execute(self.store.writer());
        sent.await.map(|_| ()).map_err(StoreError::unavailable)
    }

    async fn postpone(&self, dispatch: &Dispatch, wait: Duration) -> Result<(), StoreError> {
        let postponed = sqlx::query(POSTPONE)
            .bind(dispatch.id)
            .bind(dispatch.attempt)
            .bind(millis(wait))
            .execute(self.store.writer());
        postponed.await.map(|_| ()).map_err(StoreError::unavailable)
    }

    async fn bury(&self, dispatch: &Dispatch) -> Result<(), StoreError> {
        let buried = sqlx::query(BURY)
            .bind(dispatch.id)
            .bind(dispatch.attempt)
            .execute(self.store.writer());
        buried.await.map(|_| ()).map_err(StoreError::unavailable)
    }
}

fn dispatch(row: &SqliteRow) -> Result<Dispatch, sqlx::Error> {
    let key: String = row.try_get("key")?;
    let key = OperationKey::parse(&key).map_err(|error| sqlx::Error::Decode(error.into()))?;
    let topic: String = row.try_get("topic")?;
    let body: Vec<u8> = row.try_get("body")?;
    let message = Message::new(topic, key, body);
    Ok(Dispatch::new(
        row.try_get("id")?,
        row.try_get("attempts")?,
        message,
    ))
}

/// A hundred years at most, so that sums stay inside SQLite's integers.
fn millis(duration: Duration) -> i64 {
    const CENTURY: u128 = 100 * 366 * 24 * 60 * 60 * 1000;
    i64::try_from(duration.as_millis().min(CENTURY)).unwrap_or(i64::MAX / 2)
}
