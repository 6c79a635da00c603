use super::{PgStore, lock};

impl PgStore {
    /// Creates the table of keys where it is missing. Any number of processes may call it at once:
    /// `IF NOT EXISTS` alone fails when two create the same table.
    ///
    /// It needs the right to create tables. An application whose role has none runs
    /// [`SCHEMA`](Self::SCHEMA) with its own migrations.
    ///
    /// # Errors
    ///
    /// The database does not answer or refuses.
    pub async fn migrate(&self) -> Result<(), sqlx::Error> {
        let sql = format!(
            "BEGIN; SELECT pg_advisory_xact_lock({}); {}; COMMIT",
            lock::of_migration(),
            Self::SCHEMA
        );
        let (held, _) = self.connections.first_batch(sql).await?;
        held.give_back();
        Ok(())
    }
}
