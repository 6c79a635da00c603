#![doc = include_str!("../README.md")]

mod attempt;
mod body_timeout;
mod call_limit;
mod clock;
mod config;
mod due;
mod propagate;
mod refusal;
pub mod server;

pub use attempt::{AttemptTimeout, AttemptTimeoutLayer, ResponseFuture};
pub use body_timeout::{
    BodyTimeout, BodyTimeoutError, BodyTimeoutFuture, BodyTimeoutLayer, TimedBody,
};
pub use call_limit::{CallFuture, CallLimit, CallLimitLayer, LimitOverride};
pub use config::{DEFAULT_ATTEMPT_TIMEOUT, DEFAULT_CALL_LIMIT, DEFAULT_IDLE_LIMIT};
pub use propagate::{Propagate, PropagateConfig, PropagateFuture, PropagateLayer};
