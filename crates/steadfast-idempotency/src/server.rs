//! The server half: at most one effect per key, and the same answer to every repeat.
//!
//! [`Engine`] knows no HTTP framework: it takes the protected work as a closure and runs it inside
//! a transaction of a [`TxStore`], so that effect, key and answer commit together.
//! [`IdempotencyLayer`] is the HTTP shell around it. For effects outside the database there are
//! leases, in [`leased`], and messages that commit with the rest, in [`outbox`].

mod age;
mod answer;
mod body;
mod clock;
mod collect;
mod config;
mod engine;
mod execute;
mod fingerprint;
mod future;
mod json;
mod layer;
pub mod leased;
mod operation;
pub mod outbox;
mod problem;
mod record;
mod registry;
mod replayed_headers;
mod respond;
mod service;
mod settlement;
mod store;
mod store_policy;
mod transaction;
mod transformed;
mod unwind;
mod waiting;

pub use answer::{Answer, CorruptHeaders};
pub use body::ResponseBody;
pub use config::{AnonymousKeys, IdempotencyConfig, KeyPolicy, Replay, StoredBody};
pub use engine::{
    Conflict, Engine, EngineConfig, Executed, Execution, Keep, OldKeys, Refused, Undrained, Worked,
};
pub use execute::{Execute, Guarantee};
pub use fingerprint::{Fingerprint, FingerprintHasher};
pub use future::ResponseFuture;
pub use layer::IdempotencyLayer;
pub use operation::Operation;
pub use problem::{Code, PROBLEM_BASE, Problem};
pub use record::Record;
pub use replayed_headers::{ForbiddenHeader, ReplayedHeaders};
pub use respond::BODY_OMITTED;
pub use service::{Idempotency, Protected};
pub use settlement::Settlement;
pub use store::{Began, StoreError, StoreErrorKind, TxStore};
pub use store_policy::StorePolicy;
pub use transaction::{Transaction, TransactionSlot, TransactionUnavailable, TransactionUse};
pub use transformed::{BodyTransform, Transformed};
