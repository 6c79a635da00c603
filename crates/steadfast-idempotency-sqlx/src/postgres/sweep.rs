use sqlx::Row;

use super::{PgStore, lock};

impl PgStore {
    /// Deletes at most `limit` expired records, oldest first, and says how many it deleted.
    ///
    /// Of all processes that call it at once one sweeps, and the others delete nothing. Records
    /// that somebody reads for update are left for the next time. Until a record is swept it is
    /// honoured, however old it is.
    ///
    /// # Errors
    ///
    /// The database does not answer.
    pub async fn sweep(&self, limit: u32) -> Result<u64, sqlx::Error> {
        // The lock is a subquery without a reference to the row, so it is asked for once.
        let sql = format!(
            "WITH swept AS (
                DELETE FROM steadfast_idempotency WHERE ctid = ANY (ARRAY(
                    SELECT ctid FROM steadfast_idempotency
                    WHERE (SELECT pg_try_advisory_xact_lock({leader}))
                      AND expires_at < clock_timestamp()
                    ORDER BY expires_at LIMIT {limit} FOR UPDATE SKIP LOCKED))
                RETURNING 1)
            SELECT count(*) FROM swept",
            leader = lock::of_sweeper()
        );
        let (held, rows) = self.connections.first_batch(sql).await?;
        let swept: i64 = match rows.first() {
            Some(row) => row.try_get(0)?,
            None => 0,
        };
        held.give_back();
        Ok(swept.try_into().unwrap_or(0))
    }
}
