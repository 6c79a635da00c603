//! The leased mode, on a store in memory that fails on demand.

mod cancellation;
mod conformance;
mod contract;
mod faults;
mod handler;
mod lost;
mod rig;
mod settlement;
mod store;
mod unknown;
