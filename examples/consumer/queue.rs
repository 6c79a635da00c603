use std::time::Duration;

use steadfast::sqlx::SqliteStore;

/// A table as a queue: a message that was taken is seen again unless it is acknowledged in time.
#[derive(Clone)]
pub(crate) struct Queue(SqliteStore);

/// A message, and how often it was delivered.
pub(crate) struct Delivery {
    pub(crate) id: i64,
    pub(crate) body: String,
}

const SCHEMA: &str = "
    CREATE TABLE queue (
        id INTEGER PRIMARY KEY, body TEXT NOT NULL,
        visible_at INTEGER NOT NULL DEFAULT 0, deliveries INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE delivered (id INTEGER NOT NULL);
    CREATE TABLE charge (message INTEGER NOT NULL, cents INTEGER NOT NULL);";
const TAKE: &str = "
    UPDATE queue SET visible_at = CAST(unixepoch('subsec') * 1000 AS INTEGER) + ?1
    WHERE id = (SELECT id FROM queue
        WHERE visible_at <= CAST(unixepoch('subsec') * 1000 AS INTEGER) ORDER BY id LIMIT 1)
    RETURNING id, body";

impl Queue {
    /// A queue of so many orders.
    pub(crate) async fn fill(store: &SqliteStore, orders: u32) -> Result<Self, sqlx::Error> {
        sqlx::raw_sql(SCHEMA).execute(store.writer()).await?;
        let mut tx = store.writer().begin().await?;
        for order in 1..=orders {
            sqlx::query("INSERT INTO queue (body) VALUES (?1)")
                .bind(format!("order {order}: 4200 cents"))
                .execute(&mut *tx)
                .await?;
        }
        tx.commit().await?;
        Ok(Self(store.clone()))
    }

    /// The oldest message that nobody is at.
    pub(crate) async fn take(&self, hidden: Duration) -> Result<Option<Delivery>, sqlx::Error> {
        let hidden = i64::try_from(hidden.as_millis()).unwrap_or(i64::MAX / 2);
        let taken: Option<(i64, String)> = sqlx::query_as(TAKE)
            .bind(hidden)
            .fetch_optional(self.0.writer())
            .await?;
        let Some((id, body)) = taken else {
            return Ok(None);
        };
        sqlx::query("INSERT INTO delivered VALUES (?1)")
            .bind(id)
            .execute(self.0.writer())
            .await?;
        Ok(Some(Delivery { id, body }))
    }

    /// It is done, and is not delivered again.
    pub(crate) async fn acknowledge(&self, id: i64) -> Result<(), sqlx::Error> {
        sqlx::query("DELETE FROM queue WHERE id = ?1")
            .bind(id)
            .execute(self.0.writer())
            .await?;
        Ok(())
    }

    pub(crate) async fn is_empty(&self) -> Result<bool, sqlx::Error> {
        let left: i64 = sqlx::query_scalar("SELECT count(*) FROM queue")
            .fetch_one(self.0.reader())
            .await?;
        Ok(left == 0)
    }
}
