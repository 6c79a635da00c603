use super::SqliteStore;

// WITHOUT ROWID tables have no rowid to limit a DELETE by; the primary key does.
const SWEEP: &str = "
    DELETE FROM steadfast_idempotency WHERE (namespace, scope, key) IN (
        SELECT namespace, scope, key FROM steadfast_idempotency
        WHERE expires_at < unixepoch() ORDER BY expires_at LIMIT ?1)";

impl SqliteStore {
    /// Deletes at most `limit` expired records, oldest first, and says how many it deleted.
    ///
    /// It takes the writer for its time, so a small limit (1,000) keeps handlers waiting less.
    /// Until a record is swept it is honoured, however old it is.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub async fn sweep(&self, limit: u32) -> Result<u64, sqlx::Error> {
        let swept = sqlx::query(SWEEP).bind(limit).execute(&self.writer).await?;
        Ok(swept.rows_affected())
    }
}
