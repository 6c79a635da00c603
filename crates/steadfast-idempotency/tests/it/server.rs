//! The server half, on a store that keeps its promises in memory and breaks them on demand.

mod cancellation;
mod contract;
mod duplicates;
mod engine;
mod faults;
mod hooks;
mod kept;
mod keys;
mod limits;
mod repeats;
mod replay;
pub(crate) mod rig;
mod settlement;
mod store;
mod transaction;
mod waiting;
