//! What the retry layer promises, on a paused clock.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod admitted;
mod answers;
mod at_once;
mod bodies;
mod budget_layer;
mod budgets;
mod cancellation;
mod contract;
mod cost;
mod grpc;
mod hint_layer;
mod hints;
mod limits;
mod operation;
mod owner;
mod owner_split;
mod readiness;
mod reviewed;
mod rules;
mod stack;
mod stacked;
#[cfg(feature = "tower")]
mod tower_compat;
