//! The client half: one key per call, on the routes that are declared to honour keys.
//!
//! [`KeyLayer`] stands *outside* the retry layer, so that every attempt of a call carries the same
//! key. It takes the key that the caller made ([`OperationKey`](crate::OperationKey) in the
//! request's extensions), else the one in the header, else makes a fresh one, and marks the call
//! ([`CallState::key`](steadfast_core::CallState::key)), so that retry knows that a repeat is
//! recognised. What is not declared passes untouched and unmarked.

mod choice;
mod config;
mod future;
mod layer;
mod route;
mod routes;
mod service;

pub use choice::KeyClash;
pub use config::{KeyConfig, KeySource};
pub use future::ResponseFuture;
pub use layer::KeyLayer;
pub use route::Route;
pub use routes::Routes;
pub use service::WithKey;
