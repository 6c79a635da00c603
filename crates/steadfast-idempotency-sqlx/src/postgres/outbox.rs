use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, PgConnection, PgPool, Row};
use steadfast_idempotency::OperationKey;
use steadfast_idempotency::server::StoreError;
use steadfast_idempotency::server::outbox::{Dispatch, Message, Outbox};

use super::batches::{Batches, unavailable};
use super::literal::{Bytea, Text};
use super::lock;

/// The outbox in a PostgreSQL database. Feature `postgres`.
///
/// Handlers [`push`](Self::push) in their transaction, and a
/// [`Relay`](steadfast_idempotency::server::outbox::Relay) over this sends what committed. Relays
/// that share a table never wait for each other. It has connections of its own, on which statements
/// are not logged; all are simple queries. Clones share the connections.
#[derive(Clone, Debug)]
pub struct PgOutbox(Batches);

impl PgOutbox {
    /// What [`migrate`](Self::migrate) creates, for an application with migrations of its own.
    pub const SCHEMA: &'static str = include_str!("../../schema/postgres_outbox.sql");

    /// An outbox with connections of its own to where the application's pool connects. It connects
    /// when it is first used.
    pub fn beside(pool: &PgPool) -> Self {
        Self(Batches::beside(pool))
    }

    /// Creates the table where it is missing. Any number of processes may call it at once.
    ///
    /// # Errors
    ///
    /// The database does not answer or refuses.
    pub async fn migrate(&self) -> Result<(), sqlx::Error> {
        let lock = lock::of_migration();
        let sql = format!("SELECT pg_advisory_xact_lock({lock}); {}", Self::SCHEMA);
        self.0.run(sql).await?;
        Ok(())
    }

    /// Writes a message that is sent if the transaction commits, and not otherwise.
    ///
    /// # Errors
    ///
    /// The database does not answer, or the topic has a message with this key; the transaction can
    /// then only be rolled back.
    pub async fn push(tx: &mut PgConnection, message: &Message) -> Result<(), sqlx::Error> {
        let sql = format!(
            "INSERT INTO steadfast_outbox (topic, key, body, due_at, created_at) \
             VALUES ({}, {}, {}, clock_timestamp(), clock_timestamp())",
            Text(&message.topic),
            Text(message.key.as_str()),
            Bytea(&message.body),
        );
        let sql = sqlx::raw_sql(AssertSqlSafe(Arc::<str>::from(sql)));
        sql.execute(tx).await?;
        Ok(())
    }

    /// What is not sent any more, oldest first.
    ///
    /// # Errors
    ///
    /// The database does not answer.
    pub async fn buried(&self, limit: u32) -> Result<Vec<Dispatch>, sqlx::Error> {
        let sql = format!(
            "SELECT id, attempts, topic, key, body FROM steadfast_outbox \
             WHERE buried_at IS NOT NULL ORDER BY id LIMIT {limit}"
        );
        let rows = self.0.run(sql).await?;
        rows.iter().map(dispatch).collect()
    }

    /// Makes a buried message due once more; what it has been through is not forgotten. False: it
    /// is not buried.
    ///
    /// # Errors
    ///
    /// The database does not answer.
    pub async fn redrive(&self, id: i64) -> Result<bool, sqlx::Error> {
        let sql = format!(
            "UPDATE steadfast_outbox SET buried_at = NULL, due_at = clock_timestamp() \
             WHERE id = {id} AND buried_at IS NOT NULL RETURNING id"
        );
        Ok(!self.0.run(sql).await?.is_empty())
    }

    /// Deletes at most `limit` messages that were sent longer ago than this, and says how many.
    /// Until then their keys cannot be pushed again.
    ///
    /// # Errors
    ///
    /// The database does not answer.
    pub async fn sweep(&self, sent_before: Duration, limit: u32) -> Result<u64, sqlx::Error> {
        let sql = format!(
            "DELETE FROM steadfast_outbox WHERE id IN (SELECT id FROM steadfast_outbox \
             WHERE sent_at < clock_timestamp() - {} \
             ORDER BY id LIMIT {limit} FOR UPDATE SKIP LOCKED) RETURNING id",
            interval(sent_before)
        );
        Ok(self.0.run(sql).await?.len() as u64)
    }

    async fn change(&self, sql: String) -> Result<Vec<PgRow>, StoreError> {
        self.0.run(sql).await.map_err(unavailable)
    }
}

impl Outbox for PgOutbox {
    async fn take(&self, lease: Duration) -> Result<Option<Dispatch>, StoreError> {
        let sql = format!(
            "UPDATE steadfast_outbox \
             SET attempts = attempts + 1, due_at = clock_timestamp() + {} \
             WHERE id = (SELECT id FROM steadfast_outbox \
             WHERE sent_at IS NULL AND buried_at IS NULL AND due_at <= clock_timestamp() \
             ORDER BY due_at, id LIMIT 1 FOR UPDATE SKIP LOCKED) \
             RETURNING id, attempts, topic, key, body",
            interval(lease)
        );
        let rows = self.change(sql).await?;
        let taken = rows.first().map(dispatch).transpose();
        taken.map_err(unavailable)
    }

    async fn sent(&self, dispatch: &Dispatch) -> Result<(), StoreError> {
        let sql = format!(
            "UPDATE steadfast_outbox SET sent_at = clock_timestamp(), buried_at = NULL \
             WHERE id = {} AND sent_at IS NULL",
            dispatch.id
        );
        self.change(sql).await.map(|_| ())
    }

    async fn postpone(&self, dispatch: &Dispatch, wait: Duration) -> Result<(), StoreError> {
        let sql = format!(
            "UPDATE steadfast_outbox SET due_at = clock_timestamp() + {} \
             WHERE id = {} AND attempts = {} AND sent_at IS NULL AND buried_at IS NULL",
            interval(wait),
            dispatch.id,
            dispatch.attempt,
        );
        self.change(sql).await.map(|_| ())
    }

    async fn bury(&self, dispatch: &Dispatch) -> Result<(), StoreError> {
        let sql = format!(
            "UPDATE steadfast_outbox SET buried_at = clock_timestamp() \
             WHERE id = {} AND attempts = {} AND sent_at IS NULL",
            dispatch.id, dispatch.attempt,
        );
        self.change(sql).await.map(|_| ())
    }
}

fn dispatch(row: &PgRow) -> Result<Dispatch, sqlx::Error> {
    let key: String = row.try_get("key")?;
    let key = OperationKey::parse(&key).map_err(|error| sqlx::Error::Decode(error.into()))?;
    let (topic, body): (String, Vec<u8>) = (row.try_get("topic")?, row.try_get("body")?);
    let attempts: i32 = row.try_get("attempts")?;
    let attempts = u32::try_from(attempts).map_err(|e| sqlx::Error::Decode(e.into()))?;
    let message = Message::new(topic, key, body);
    Ok(Dispatch::new(row.try_get("id")?, attempts, message))
}

/// A hundred years at most, so that sums stay inside PostgreSQL's calendar.
fn interval(duration: Duration) -> String {
    const CENTURY: u128 = 100 * 366 * 24 * 60 * 60 * 1000;
    let millis = duration.as_millis().min(CENTURY);
    format!("{millis} * interval '1 millisecond'")
}
