#![doc = include_str!("../README.md")]

mod body;
mod classify;
mod connect;
mod leaf;

pub use body::LeafBody;
pub use classify::HyperClassify;
pub use connect::{ConnectFuture, ConnectTimeout, ConnectTimeoutLayer, DEFAULT_CONNECT_TIMEOUT};
pub use leaf::{Leaf, LeafLayer};
