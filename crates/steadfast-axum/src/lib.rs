#![doc = include_str!("../README.md")]

mod context;
mod deadline;
mod key;
mod lease;
mod rejection;
mod target;
mod transaction;

pub use context::RequestContext;
pub use deadline::RequestDeadline;
pub use key::IdempotencyKey;
pub use lease::Lease;
pub use rejection::ExtractorRejection;
pub use target::original_target;
pub use transaction::Transaction;
