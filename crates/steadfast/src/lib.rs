#![doc = include_str!("../README.md")]

pub mod manual;

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
#[cfg(feature = "sqlite")]
pub use steadfast_idempotency_sqlx as sqlx;
#[cfg(feature = "client")]
pub use steadfast_retry as retry;
