//! The standard stacks as their users see them, on a paused clock.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod client;
mod client_reload;
mod contract;
mod cost;
mod named;
mod profiles;
mod server;
mod server_reload;
mod told;
