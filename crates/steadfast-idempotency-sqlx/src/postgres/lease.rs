use std::sync::Arc;
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions, PgRow};
use sqlx::{AssertSqlSafe, ConnectOptions, PgPool, Postgres, Row};

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
    pool: PgPool,
}

/// Below the engine's store timeout, so that the error says which of the two it was.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(4);
const CONNECTIONS: u32 = 10;

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
        let pool = PgPoolOptions::new()
            .max_connections(CONNECTIONS)
            .acquire_timeout(ACQUIRE_TIMEOUT);
        let connect: PgConnectOptions = url.parse()?;
        let pool = pool
            .connect_with(connect.disable_statement_logging())
            .await?;
        Ok(Self { pool })
    }

    /// A store with connections of its own to where the application's pool connects, and with the
    /// options of that pool. It connects when it is first used.
    pub fn beside(pool: &PgPool) -> Self {
        let connect = PgConnectOptions::clone(&pool.connect_options());
        let connect = connect.disable_statement_logging();
        let pool = pool.options().clone().connect_lazy_with(connect);
        Self { pool }
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
        self.batch(sql).await?;
        Ok(())
    }

    /// Deletes at most `limit` expired rows, oldest first, and says how many. Of all processes that
    /// call it at once one sweeps. Until a row is swept it is honoured.
    ///
    /// # Errors
    ///
    /// The database does not answer.
    pub async fn sweep(&self, limit: u32) -> Result<u64, sqlx::Error> {
        let rows = self.batch(sql::sweep(limit)).await?;
        let swept: i64 = match rows.first() {
            Some(row) => row.try_get(0)?,
            None => 0,
        };
        Ok(swept.try_into().unwrap_or(0))
    }

    /// Closes all connections, after those at work have come back.
    pub async fn close(&self) {
        self.pool.close().await;
    }

    /// Runs statements as one transaction in one round trip. They are sent whole: a future that is
    /// dropped midway leaves a change that is made or not made, and no open transaction. The text
    /// must not come from outside: values are literals.
    async fn batch(&self, sql: String) -> Result<Vec<PgRow>, sqlx::Error> {
        let mut lent = Lent {
            connection: self.pool.acquire().await?,
            read: false,
        };
        let sql = sqlx::raw_sql(AssertSqlSafe(Arc::<str>::from(sql)));
        let rows = sql.fetch_all(&mut *lent.connection).await?;
        lent.read = true;
        Ok(rows)
    }
}

/// A connection that is closed unless all answers on it were read.
struct Lent {
    connection: PoolConnection<Postgres>,
    read: bool,
}

impl Drop for Lent {
    fn drop(&mut self) {
        if !self.read {
            self.connection.close_on_drop();
        }
    }
}
