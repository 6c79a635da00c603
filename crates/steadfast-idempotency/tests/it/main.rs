//! What the crate promises, through its public face.
#![allow(clippy::unwrap_used, reason = "tests, and what tests are made of")]

mod client;
mod conformance;
mod contract;
mod leased;
mod server;
