//! The leased mode, on a store in memory that fails on demand.

mod cancellation;
mod conformance;
mod contract;
mod faults;
mod handler;
mod lost;
pub(crate) mod rig;
mod settlement;
pub(crate) mod store;
mod unknown;
