#![doc = include_str!("../README.md")]

mod config;
mod error;
mod reply;
mod scripts;
mod store;

pub use config::{Eviction, RedisConfig};
pub use error::ConnectError;
pub use store::RedisLeaseStore;
