//! The server half: nobody works for a caller who has gone.
//!
//! [`InboundDeadlineLayer`] reads how long the caller waits, refuses what has already expired,
//! drops the handler when the time is over, and puts what is left in force around the handler, so
//! that its outbound calls through this crate's client layers pass it on.

mod body;
mod config;
mod dialect;
mod future;
mod inbound;
mod layer;
mod service;
mod trust;
mod watch;

pub use body::ResponseBody;
pub use config::{DEFAULT_ANSWER_MARGIN, DEFAULT_MAXIMUM, InboundConfig, Mode, default_headers};
pub use dialect::{CODE_EXCEEDED, CODE_EXPIRED, PROBLEM_BASE};
pub use future::ResponseFuture;
pub use layer::InboundDeadlineLayer;
pub use service::InboundDeadline;
pub use trust::InboundTrust;
