use sqlx::{PgPool, Row};

use super::batches::Batches;
use super::lock;

mod row;
mod sql;
mod store;

/// Leases and answers in a PostgreSQL database, for effects that happen outside of it. Feature
/// `postgres`.
///
/// One row for each operation, changed by one batch of statements each, in one round trip and by the
/// database's own clock. A fence is the next number of a sequence and above the row's last one. An
/// acknowledged claim survives what the database's own commits survive, which is more than Redis
/// promises.
///
/// It has connections of its own, on which statements are not logged, because they hold keys and
/// answers. Everything is a simple query without session state: it works through PgBouncer in
/// transaction mode. Clones share the connections.
#[derive(Clone, Debug)]
pub struct PgLeaseStore {
    batches: Batches,
}

impl PgLeaseStore {
    /// What [`migrate`](Self::migrate) creates, for an application with migrations of its own.
    pub const SCHEMA: &'static str = include_str!("../../schema/postgres_lease.sql");

    /// Connects to the database of a `postgres://` URL, with at most ten connections. It creates
    /// nothing: see [`migrate`](Self::migrate).
    ///
    /// # Errors
    ///
    /// The URL is none, or the database does not answer.
    pub async fn open(url: &str) -> Result<Self, sqlx::Error> {
        let batches = Batches::open(url).await?;
        Ok(Self { batches })
    }

    /// A store with connections of its own to where the application's pool connects, and with the
    /// options of that pool. It connects when it is first used.
    pub fn beside(pool: &PgPool) -> Self {
        let batches = Batches::beside(pool);
        Self { batches }
    }

    /// Creates table and sequence where they are missing. Any number of processes may call it at
    /// once. It needs the right to create tables; an application whose role has none runs
    /// [`SCHEMA`](Self::SCHEMA) with its own migrations.
    ///
    /// # Errors
    ///
    /// The database does not answer or refuses.
    pub async fn migrate(&self) -> Result<(), sqlx::Error> {
        let lock = lock::of_migration();
        let sql = format!("SELECT pg_advisory_xact_lock({lock}); {}", Self::SCHEMA);
        self.batches.run(sql).await?;
        Ok(())
    }

    /// Deletes at most `limit` expired rows, oldest first, and says how many. Of all processes that
    /// call it at once one sweeps. Until a row is swept it is honoured.
    ///
    /// # Errors
    ///
    /// The database does not answer.
    pub async fn sweep(&self, limit: u32) -> Result<u64, sqlx::Error> {
        let rows = self.batches.run(sql::sweep(limit)).await?;
        let swept: i64 = match rows.first() {
            Some(row) => row.try_get(0)?,
            None => 0,
        };
        Ok(swept.try_into().unwrap_or(0))
    }

    /// Closes all connections, after those at work have come back.
    pub async fn close(&self) {
        self.batches.close().await;
    }
}
