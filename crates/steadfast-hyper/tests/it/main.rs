//! Real errors of real clients against scripted peers.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod contract;
mod http1;
mod http2;
mod leaf;
mod made_up;
mod wrapped;
