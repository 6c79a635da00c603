#![doc = include_str!("../README.md")]

#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;

#[cfg(feature = "postgres")]
pub use postgres::{PgLeaseStore, PgOutbox, PgStore, PgTx};
#[cfg(feature = "sqlite")]
pub use sqlite::{SqliteOutbox, SqliteStore, SqliteTx};
