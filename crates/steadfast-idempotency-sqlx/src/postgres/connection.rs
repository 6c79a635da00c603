use std::mem;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use sqlx::pool::PoolConnection;
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Connection, PgConnection, Postgres};

use super::PgStore;

/// A connection of the store's. Unless it is given back it is closed on drop: a future dropped
/// midway leaves answers on it that nobody has read, and perhaps an open transaction.
pub(super) struct Held {
    connection: PoolConnection<Postgres>,
    clean: bool,
}

impl Held {
    /// The server is outside of any transaction and has answered everything.
    pub(super) fn give_back(mut self) {
        self.clean = true;
    }

    /// Runs statements in one round trip. The text must not come from outside: values are literals.
    pub(super) async fn batch(&mut self, sql: &Arc<str>) -> Result<Vec<PgRow>, sqlx::Error> {
        let sql = sqlx::raw_sql(AssertSqlSafe(Arc::clone(sql)));
        sql.fetch_all(&mut *self.connection).await
    }
}

impl Deref for Held {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        &self.connection
    }
}

impl DerefMut for Held {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.connection
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if !self.clean {
            self.connection.close_on_drop();
        }
    }
}

impl PgStore {
    /// Runs statements that begin anew, in one round trip.
    ///
    /// A connection that was idle may have died meanwhile, which shows here. Nothing has been done
    /// on it, so the next one is tried; a restart of the server kills all of them at once.
    pub(super) async fn first_batch(
        &self,
        sql: impl Into<Arc<str>>,
    ) -> Result<(Held, Vec<PgRow>), sqlx::Error> {
        let sql = sql.into();
        let mut spares = self.pool.size();
        loop {
            let (mut held, was_idle) = self.acquire().await?;
            match held.batch(&sql).await {
                Err(error) if was_idle && spares > 0 && is_gone(&error) => spares -= 1,
                outcome => return outcome.map(|rows| (held, rows)),
            }
        }
    }

    /// A connection on which sqlx counts one transaction, for good, while the server is outside of
    /// any; and whether it has been used before. The count costs two round trips, once in a
    /// connection's life.
    pub(super) async fn acquire(&self) -> Result<(Held, bool), sqlx::Error> {
        let mut held = Held {
            connection: self.pool.acquire().await?,
            clean: false,
        };
        let was_idle = held.is_in_transaction();
        if !was_idle {
            mem::forget(held.begin().await?);
            sqlx::raw_sql("ROLLBACK").execute(&mut *held).await?;
        }
        Ok((held, was_idle))
    }
}

/// Whether the server ended the connection, as it does when it restarts or is told to.
fn is_gone(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) | sqlx::Error::Protocol(_) => true,
        // admin_shutdown, crash_shutdown, cannot_connect_now
        sqlx::Error::Database(error) => {
            matches!(error.code().as_deref(), Some("57P01" | "57P02" | "57P03"))
        }
        _ => false,
    }
}
