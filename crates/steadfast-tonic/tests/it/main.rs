//! tonic's generated client over the layers, against tonic's server and a scripted peer.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod contract;
mod greeter;
mod info;
mod not_grpc;
mod peer;
mod policy;
mod refusals;
mod repeats;
mod served;
mod streams;
mod transport;
mod types;
