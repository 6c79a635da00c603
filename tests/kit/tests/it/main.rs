//! The kit shows that it catches what it is there to catch.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod bodies;
mod contract;
mod drops;
mod http2;
mod probes;
mod proxies;
mod servers;
