#![doc = include_str!("../README.md")]

mod body;
mod classify;
mod client;
mod leaf;
#[cfg(feature = "middleware")]
mod middleware;
mod transport;

pub use classify::ReqwestClassify;
pub use client::{Client, Error, RequestBuilder, Response, Stack};
pub use leaf::{Leaf, LeafFuture};
#[cfg(feature = "middleware")]
pub use middleware::{Layered, MiddlewareLayer, NextLeaf};
pub use steadfast_hyper::DEFAULT_CONNECT_TIMEOUT;
pub use transport::client_builder;
