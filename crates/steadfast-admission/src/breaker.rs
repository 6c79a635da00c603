//! The circuit breaker: stops calling a peer that fails, and asks now and then whether it is well.

mod body;
mod circuit;
mod circuits;
mod config;
mod counts;
mod future;
mod getters;
mod handle;
mod judge;
mod layer;
mod probes;
mod rules;
mod service;
mod ticket;
mod window;

pub use body::BreakerBody;
pub use config::{
    BreakerConfig, DEFAULT_FAILURE_RATE, DEFAULT_OPEN_BASE, DEFAULT_OPEN_CAP, DEFAULT_OPEN_SPREAD,
    DEFAULT_PROBE_LEASE, DEFAULT_PROBES,
};
pub use future::BreakerFuture;
pub use handle::BreakerHandle;
pub use layer::BreakerLayer;
pub use service::Breaker;
pub use window::{DEFAULT_MINIMUM, DEFAULT_WINDOW, InvalidWindow, Window};
