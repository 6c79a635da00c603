#![doc = include_str!("../README.md")]

mod sqlite;

pub use sqlite::{SqliteOutbox, SqliteStore, SqliteTx};
