#![doc = include_str!("../README.md")]

pub mod arrivals;
pub mod breaker;
pub mod bulkhead;
mod clock;
pub mod cooldown;
pub mod fallback;
mod mode;
mod scope;
mod settings;
mod shard;
mod sync;
mod told;

pub use arrivals::ArrivalsLayer;
pub use breaker::BreakerLayer;
pub use bulkhead::BulkheadLayer;
pub use cooldown::CooldownLayer;
pub use fallback::FallbackLayer;
pub use mode::Mode;
pub use scope::Scope;
