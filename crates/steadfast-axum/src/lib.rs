#![doc = include_str!("../README.md")]

mod answered;
mod context;
mod deadline;
mod key;
mod lease;
mod problem;
mod rejection;
mod retry;
mod target;
mod transaction;

pub use answered::{Answered, AnsweredFuture, AnsweredLayer};
pub use context::RequestContext;
pub use deadline::RequestDeadline;
pub use key::IdempotencyKey;
pub use lease::Lease;
pub use problem::Problem;
pub use rejection::ExtractorRejection;
pub use retry::RequestRetry;
pub use target::original_target;
pub use transaction::Transaction;
