#![doc = include_str!("../README.md")]

mod attempts;
mod call;
mod clock;
mod config;
mod drain;
mod future;
mod last;
mod layer;
mod overrides;
mod replay;
mod response_body;
mod service;

pub use config::{
    DEFAULT_DRAIN_LIMIT, DEFAULT_KEEP_LIMIT, DEFAULT_REPLAY_LIMIT, DEFAULT_TOTAL_LIMIT, RetryConfig,
};
pub use future::ResponseFuture;
pub use layer::RetryLayer;
pub use overrides::RetryOverrides;
pub use replay::{ReplayBody, Superseded};
pub use response_body::ResponseBody;
pub use service::Retry;
