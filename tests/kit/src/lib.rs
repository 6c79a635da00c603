#![doc = include_str!("../README.md")]

mod body;
pub mod contract;
mod drive;
mod drops;
mod http2;
mod message;
mod probe;
mod proxy;
mod server;

pub use body::{BodyWatch, Chunks, Piece, Schedule};
pub use drops::{Driven, drop_at_every_await};
pub use http2::{ErrorCode, Http2Server, Reply, SeenRequest};
pub use message::Message;
pub use probe::{Answering, Probe, Readiness, Step};
pub use proxy::{Exchange, Fate, FaultProxy};
pub use server::{Script, ScriptedServer};

mod wire;

/// An error of any type, as tower boxes it.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
