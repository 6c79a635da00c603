use std::fmt;
use std::mem;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Connection, PgConnection, PgPool, Postgres};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};

/// How long a connection is used before sqlx's pool has it again, which applies the lifetimes of its
/// options and tests it. To give it back after each use would be a round trip and a task.
const KEPT: Duration = Duration::from_secs(30);

/// The store's connections: of a pool that is its own, kept at hand between uses.
#[derive(Clone)]
pub(super) struct Connections {
    pool: PgPool,
    slots: Arc<Semaphore>,
    idle: Arc<Idle>,
}

/// The latest used last.
#[derive(Default)]
struct Idle(Mutex<Vec<Kept>>);

struct Kept {
    connection: PoolConnection<Postgres>,
    since: Instant,
}

impl Connections {
    pub(super) fn of(pool: PgPool) -> Self {
        let slots = pool.options().get_max_connections();
        Self {
            pool,
            slots: Arc::new(Semaphore::new(slots as usize)),
            idle: Arc::default(),
        }
    }

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
        let patience = self.pool.options().get_acquire_timeout();
        let slot = timeout(patience, Arc::clone(&self.slots).acquire_owned()).await;
        let slot = slot.map_err(|_| sqlx::Error::PoolTimedOut)?;
        let slot = slot.map_err(|_| sqlx::Error::PoolClosed)?;
        let kept = self.idle.lock().pop();
        let kept = match kept {
            Some(kept) => kept,
            None => Kept {
                connection: self.pool.acquire().await?,
                since: Instant::now(),
            },
        };
        let mut held = Held {
            kept: Some(kept),
            clean: false,
            connections: self.clone(),
            _slot: slot,
        };
        let was_idle = held.is_in_transaction();
        if !was_idle {
            mem::forget(held.begin().await?);
            sqlx::raw_sql("ROLLBACK").execute(&mut *held).await?;
        }
        Ok((held, was_idle))
    }

    fn take_back(&self, kept: Kept) {
        if kept.since.elapsed() < KEPT && !self.pool.is_closed() {
            self.idle.lock().push(kept);
        }
    }

    pub(super) async fn close(&self) {
        // From here on nothing is kept at hand.
        let closed = self.pool.close();
        let idle = mem::take(&mut *self.idle.lock());
        drop(idle);
        closed.await;
    }
}

impl Idle {
    fn lock(&self) -> MutexGuard<'_, Vec<Kept>> {
        // Nothing panics between two changes of the list.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Idle {
    fn drop(&mut self) {
        // Plainly, as sqlx's pool drops its own: to give them back takes a runtime, which may be gone.
        for kept in self.lock().drain(..) {
            drop(kept.connection.leak());
        }
    }
}

impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pool.fmt(f)
    }
}

/// A connection in use. Unless it is given back it is closed on drop: a future dropped midway
/// leaves answers on it that nobody has read, and perhaps an open transaction.
pub(super) struct Held {
    // None only inside `drop`.
    kept: Option<Kept>,
    clean: bool,
    connections: Connections,
    _slot: OwnedSemaphorePermit,
}

impl Held {
    /// The server is outside of any transaction and has answered everything.
    pub(super) fn give_back(mut self) {
        self.clean = true;
    }

    /// Runs statements in one round trip. Whatever came from outside is a literal in their text.
    pub(super) async fn batch(&mut self, sql: &Arc<str>) -> Result<Vec<PgRow>, sqlx::Error> {
        let sql = sqlx::raw_sql(AssertSqlSafe(Arc::clone(sql)));
        sql.fetch_all(&mut **self).await
    }
}

impl Deref for Held {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        let kept = self.kept.as_ref();
        &kept.expect("only drop takes it out").connection
    }
}

impl DerefMut for Held {
    fn deref_mut(&mut self) -> &mut PgConnection {
        let kept = self.kept.as_mut();
        &mut kept.expect("only drop takes it out").connection
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let Some(mut kept) = self.kept.take() else {
            return;
        };
        match self.clean {
            true => self.connections.take_back(kept),
            false => kept.connection.close_on_drop(),
        }
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
