#![doc = include_str!("../README.md")]

mod key;
mod rejection;
mod target;
mod transaction;

pub use key::IdempotencyKey;
pub use rejection::ExtractorRejection;
pub use target::original_target;
pub use transaction::Transaction;
