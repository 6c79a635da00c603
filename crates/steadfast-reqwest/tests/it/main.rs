//! Real errors of a real reqwest client against scripted peers, and what goes over the wire.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod bodies;
mod client;
mod hidden;
mod http1;
mod http2;
mod kinds;
#[cfg(feature = "middleware")]
mod middleware;
mod traits;
mod wrapped;
