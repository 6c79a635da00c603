use std::sync::Arc;
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions, PgRow};
use sqlx::{AssertSqlSafe, ConnectOptions, PgPool, Postgres};
use steadfast_idempotency::server::StoreError;

/// Connections for statements that are whole by themselves, and are not logged, because they hold
/// keys and bodies.
#[derive(Clone, Debug)]
pub(super) struct Batches(PgPool);

/// Below the engine's store timeout, so that the error says which of the two it was.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(4);
const CONNECTIONS: u32 = 10;

impl Batches {
    pub(super) async fn open(url: &str) -> Result<Self, sqlx::Error> {
        let pool = PgPoolOptions::new()
            .max_connections(CONNECTIONS)
            .acquire_timeout(ACQUIRE_TIMEOUT);
        let connect: PgConnectOptions = url.parse()?;
        let pool = pool.connect_with(connect.disable_statement_logging());
        pool.await.map(Self)
    }

    pub(super) fn beside(pool: &PgPool) -> Self {
        let connect = PgConnectOptions::clone(&pool.connect_options());
        let connect = connect.disable_statement_logging();
        Self(pool.options().clone().connect_lazy_with(connect))
    }

    pub(super) async fn close(&self) {
        self.0.close().await;
    }

    /// Runs statements as one transaction in one round trip. They are sent whole: a future that is
    /// dropped midway leaves a change that is made or not made, and no open transaction. The text
    /// must not come from outside: values are literals.
    pub(super) async fn run(&self, sql: String) -> Result<Vec<PgRow>, sqlx::Error> {
        let mut lent = Lent {
            connection: self.0.acquire().await?,
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

/// Without the server's detail, which tells the key.
pub(super) fn unavailable(error: sqlx::Error) -> StoreError {
    match error.as_database_error() {
        Some(database) => {
            let code = database.code().unwrap_or_default();
            StoreError::unavailable(format!("{} (SQLSTATE {code})", database.message()))
        }
        None => StoreError::unavailable(error),
    }
}
