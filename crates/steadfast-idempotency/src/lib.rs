#![doc = include_str!("../README.md")]

pub mod client;
#[cfg(feature = "conformance")]
pub mod conformance;
mod key;
mod operation_key;
pub mod server;

pub use key::{IDEMPOTENCY_KEY, InvalidKey, Key, KeyFormat, KeySyntax};
pub use operation_key::OperationKey;
