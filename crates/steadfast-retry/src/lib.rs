#![doc = include_str!("../README.md")]

mod attempts;
mod budget_layer;
mod call;
mod clock;
mod commit;
mod config;
mod drain;
mod future;
mod hint_layer;
mod hold;
mod last;
mod layer;
mod operation;
mod overrides;
mod replay;
mod response_body;
mod service;
mod split;
mod template;
#[cfg(feature = "tower")]
pub mod tower_compat;
mod upstream;

pub use budget_layer::{
    AttemptMark, BudgetFuture, BudgetLayer, Budgeted, CountAttempts, CountAttemptsLayer,
};
pub use commit::Commit;
pub use config::{
    DEFAULT_DRAIN_LIMIT, DEFAULT_KEEP_LIMIT, DEFAULT_REPLAY_LIMIT, DEFAULT_TOTAL_LIMIT, RetryConfig,
};
pub use future::ResponseFuture;
pub use hint_layer::{HintFuture, HintLayer, ReadHint};
pub use layer::RetryLayer;
pub use operation::{Judgement, Operation, operation};
pub use overrides::RetryOverrides;
pub use replay::{ReplayBody, Superseded};
pub use response_body::ResponseBody;
pub use service::Retry;
pub use upstream::UpstreamOwner;

#[doc = include_str!("../docs/coming-from.md")]
pub mod coming_from {}
