#![doc = include_str!("../README.md")]

#[cfg(feature = "client")]
pub mod client;

#[cfg(all(feature = "toml", any(feature = "client", feature = "server")))]
mod file_error;
#[cfg(all(feature = "toml", any(feature = "client", feature = "server")))]
mod human;

#[cfg(all(feature = "toml", any(feature = "client", feature = "server")))]
pub use file_error::PolicyFileError;
pub mod manual;
#[cfg(feature = "server")]
pub mod server;

pub use steadfast_core::*;

#[cfg(any(feature = "client", feature = "server"))]
pub use steadfast_admission as admission;
#[cfg(feature = "axum")]
pub use steadfast_axum as axum;
#[cfg(any(feature = "client", feature = "server"))]
pub use steadfast_deadline as deadline;
#[cfg(feature = "hyper")]
pub use steadfast_hyper as hyper;
#[cfg(any(feature = "client", feature = "server"))]
pub use steadfast_idempotency as idempotency;
#[cfg(feature = "redis")]
pub use steadfast_idempotency_redis as redis;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub use steadfast_idempotency_sqlx as sqlx;
#[cfg(feature = "reqwest")]
pub use steadfast_reqwest as reqwest;
#[cfg(feature = "client")]
pub use steadfast_retry as retry;
#[cfg(feature = "tonic")]
pub use steadfast_tonic as tonic;
