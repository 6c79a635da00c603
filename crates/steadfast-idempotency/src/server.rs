//! The server half: at most one effect per key, and the same answer to every repeat.
//!
//! [`Engine`] knows no HTTP framework: it takes the protected work as a closure and runs it inside
//! a transaction of a [`TxStore`], so that effect, key and answer commit together.
//! [`IdempotencyLayer`] is the HTTP shell around it.

mod answer;
mod body;
mod collect;
mod config;
mod engine;
mod fingerprint;
mod future;
mod layer;
mod operation;
mod problem;
mod record;
mod registry;
mod replayed_headers;
mod respond;
mod service;
mod settlement;
mod store;
mod transaction;
mod unwind;

pub use answer::{Answer, CorruptHeaders};
pub use body::ResponseBody;
pub use config::{AnonymousKeys, IdempotencyConfig, KeyPolicy};
pub use engine::{Engine, EngineConfig, Executed, Execution, Keep, Refused, Undrained, Worked};
pub use fingerprint::{Fingerprint, FingerprintHasher};
pub use future::ResponseFuture;
pub use layer::IdempotencyLayer;
pub use operation::Operation;
pub use problem::{Code, PROBLEM_BASE, Problem};
pub use record::Record;
pub use replayed_headers::{ForbiddenHeader, ReplayedHeaders};
pub use service::Idempotency;
pub use settlement::Settlement;
pub use store::{Began, StoreError, StoreErrorKind, TxStore};
pub use transaction::{Transaction, TransactionSlot, TransactionUnavailable, TransactionUse};
