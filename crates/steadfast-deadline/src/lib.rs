#![doc = include_str!("../README.md")]

mod config;
mod future;
mod layer;
mod machine;
mod service;

pub use config::DEFAULT_ATTEMPT_TIMEOUT;
pub use future::ResponseFuture;
pub use layer::AttemptTimeoutLayer;
pub use service::AttemptTimeout;
