use std::path::Path;
use std::time::Duration;

use sqlx::Connection;
use sqlx::error::DatabaseError;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};

mod outbox;
mod row;
mod store;
mod sweep;
mod tx;

pub use outbox::SqliteOutbox;
pub use tx::SqliteTx;

/// How long the writer waits for a writer of another process, below the engine's store timeout so
/// that the error says which of the two it was.
const BUSY_TIMEOUT: Duration = Duration::from_secs(4);
/// How long `open` waits for other processes that are opening a fresh file.
const OPEN_PATIENCE: Duration = Duration::from_secs(5);
const OPEN_PAUSE: Duration = Duration::from_millis(10);
/// How long anything waits for the one writer: a handler that waits for the writer it holds itself
/// gets an error before its work limit.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);
const READERS: u32 = 4;

/// The embedded store: one SQLite file with the application's tables and the keys.
///
/// The file is in WAL mode with `synchronous = FULL`: `NORMAL` may lose, on power loss, commits
/// that clients were told of. There is one writer connection, handed out in order of arrival, and
/// a small pool of readers, so that replays never queue behind a handler. Clones share both.
#[derive(Clone, Debug)]
pub struct SqliteStore {
    writer: SqlitePool,
    reader: SqlitePool,
}

impl SqliteStore {
    /// Opens the file, creating it and the table of keys where they are missing.
    ///
    /// # Errors
    ///
    /// The file cannot be opened or written.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, sqlx::Error> {
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .busy_timeout(BUSY_TIMEOUT);
        Self::open_with(options).await
    }

    /// Opens the file that the options name; journal mode and synchronous are overridden.
    ///
    /// # Errors
    ///
    /// The file cannot be opened or written. A private in-memory database has no second
    /// connection that could see it, so it fails here too.
    pub async fn open_with(options: SqliteConnectOptions) -> Result<Self, sqlx::Error> {
        // The switch of a fresh file to WAL needs a lock that no busy timeout waits for.
        let until = tokio::time::Instant::now() + OPEN_PATIENCE;
        loop {
            match Self::try_open(options.clone()).await {
                Err(error) if is_busy(&error) && tokio::time::Instant::now() < until => {
                    tokio::time::sleep(OPEN_PAUSE).await;
                }
                opened => return opened,
            }
        }
    }

    async fn try_open(options: SqliteConnectOptions) -> Result<Self, sqlx::Error> {
        let options = options
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full);
        // One connection: SQLite has one writer, and a pool serves in order of arrival.
        let writer = SqlitePoolOptions::new()
            .max_connections(1)
            .min_connections(1)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .idle_timeout(None)
            .max_lifetime(None)
            // It was tested when it came back, below.
            .test_before_acquire(false)
            // A connection that comes back inside a transaction was left so by a future dropped
            // midway or by SQL that ended it behind sqlx's back. It is closed, which rolls back.
            .after_release(|connection, _| {
                Box::pin(async move {
                    connection.ping().await?;
                    // sqlx counts only what it began itself; SQL text may have begun one too.
                    let idle = !connection.is_in_transaction();
                    let left_open = sqlx::raw_sql("ROLLBACK").execute(connection).await.is_ok();
                    Ok(idle && !left_open)
                })
            })
            .connect_with(options.clone())
            .await?;
        let reader = SqlitePoolOptions::new()
            .max_connections(READERS)
            // A file does not hang up.
            .test_before_acquire(false)
            .connect_with(options.read_only(true).create_if_missing(false))
            .await?;
        let store = Self { writer, reader };
        store.migrate().await?;
        Ok(store)
    }

    /// Creates the table of keys where it is missing; [`open`](Self::open) has done so.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub async fn migrate(&self) -> Result<(), sqlx::Error> {
        let mut tx = self.writer.begin_with("BEGIN IMMEDIATE").await?;
        sqlx::raw_sql(include_str!("../schema/sqlite.sql"))
            .execute(&mut *tx)
            .await?;
        tx.commit().await
    }

    /// Read-only connections to the same file, for the application's queries.
    pub const fn reader(&self) -> &SqlitePool {
        &self.reader
    }

    /// The one writing connection, for the application's migrations and for writes outside
    /// protected handlers. A protected handler that waits for it waits for itself.
    pub const fn writer(&self) -> &SqlitePool {
        &self.writer
    }

    /// Closes all connections, after those at work have come back.
    pub async fn close(&self) {
        self.writer.close().await;
        self.reader.close().await;
    }
}

fn is_busy(error: &sqlx::Error) -> bool {
    const SQLITE_BUSY: u32 = 5;
    let code = error.as_database_error().and_then(DatabaseError::code);
    let code = code.and_then(|code| code.parse::<u32>().ok());
    // The low byte is the primary code; SQLITE_BUSY_RECOVERY is one of its extended forms.
    code.is_some_and(|code| code & 0xff == SQLITE_BUSY)
}
