use std::time::Duration;

use sqlx::PgPool;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

mod batches;
mod connection;
mod lease;
mod literal;
mod lock;
mod mark;
mod migrate;
mod outbox;
mod row;
mod store;
mod sweep;
mod tx;

use connection::Connections;
pub use lease::PgLeaseStore;
pub use outbox::PgOutbox;
pub use tx::PgTx;

/// Below the engine's store timeout, so that the error says which of the two it was.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(4);
/// As sqlx's own pool has.
const CONNECTIONS: u32 = 10;
/// The engine's limit for work: a statement that takes longer has nobody who waits for it.
const STATEMENT_LIMIT: Duration = Duration::from_secs(30);
/// Work may pause as long as it may take, and the engine's steps follow it.
const IDLE_LIMIT: Duration = Duration::from_secs(35);

/// The store in a PostgreSQL database, beside the application's tables. Feature `postgres`.
///
/// It has connections of its own, which handlers get with the request's transaction. Between
/// transactions sqlx believes that one is open on each of them, so that a `begin` inside a handler
/// is a savepoint however the transaction was begun; this is why the pool is not shared. It also
/// keeps protected handlers and the rest of the application from starving each other.
///
/// Clones share the connections. All of its statements are simple queries without session state:
/// it works through PgBouncer in transaction mode.
#[derive(Clone, Debug)]
pub struct PgStore {
    connections: Connections,
    statement_limit: Duration,
    idle_limit: Duration,
}

impl PgStore {
    /// What [`migrate`](Self::migrate) creates, for an application with migrations of its own.
    pub const SCHEMA: &'static str = include_str!("../schema/postgres.sql");

    /// Connects to the database of a `postgres://` URL, with at most ten connections.
    ///
    /// It creates nothing: see [`migrate`](Self::migrate).
    ///
    /// # Errors
    ///
    /// The URL is none, or the database does not answer.
    pub async fn open(url: &str) -> Result<Self, sqlx::Error> {
        let pool = PgPoolOptions::new()
            .max_connections(CONNECTIONS)
            .acquire_timeout(ACQUIRE_TIMEOUT);
        Self::open_with(pool, url.parse()?).await
    }

    /// Connects with options of one's own.
    ///
    /// Two of them are overridden: connections are not tested before use (the store finds dead ones
    /// itself, without the round trip), and statements on them are not logged, because they hold
    /// keys and answers.
    ///
    /// # Errors
    ///
    /// The database does not answer.
    pub async fn open_with(
        pool: PgPoolOptions,
        connect: PgConnectOptions,
    ) -> Result<Self, sqlx::Error> {
        let store = Self::lazy(pool, connect);
        let (held, _) = store.connections.acquire().await?;
        held.give_back();
        Ok(store)
    }

    /// A store with connections of its own to where the application's pool connects, and with the
    /// options of that pool. It connects when it is first used.
    pub fn beside(pool: &PgPool) -> Self {
        let connect = PgConnectOptions::clone(&pool.connect_options());
        Self::lazy(pool.options().clone(), connect)
    }

    fn lazy(pool: PgPoolOptions, connect: PgConnectOptions) -> Self {
        use sqlx::ConnectOptions;
        let pool = pool.test_before_acquire(false);
        let pool = pool.connect_lazy_with(connect.disable_statement_logging());
        Self {
            connections: Connections::of(pool),
            statement_limit: STATEMENT_LIMIT,
            idle_limit: IDLE_LIMIT,
        }
    }

    /// Sets how long one statement of a protected handler may take, by `statement_timeout`.
    /// Default 30 s, as long as the engine lets all of its work take; zero is no limit.
    #[must_use]
    pub const fn with_statement_limit(mut self, limit: Duration) -> Self {
        self.statement_limit = limit;
        self
    }

    /// Sets how long a transaction may wait for its next statement, by
    /// `idle_in_transaction_session_timeout`. Default 35 s; zero is no limit.
    ///
    /// It ends the transaction of a process that froze or whose network is gone, and with it the
    /// "in progress" of its key. It must exceed the engine's work limit.
    #[must_use]
    pub const fn with_idle_limit(mut self, limit: Duration) -> Self {
        self.idle_limit = limit;
        self
    }

    /// How long one statement may take.
    pub const fn statement_limit(&self) -> Duration {
        self.statement_limit
    }

    /// How long a transaction may wait for its next statement.
    pub const fn idle_limit(&self) -> Duration {
        self.idle_limit
    }

    /// Closes all connections, after those at work have come back.
    pub async fn close(&self) {
        self.connections.close().await;
    }
}
