//! The store on real servers.
#![allow(clippy::unwrap_used, reason = "tests, and what tests are made of")]

mod conformance;
mod connect;
mod faults;
mod races;
mod records;
mod rig;
