//! The only place where the client's layers read the clock.

use std::time::Instant;

/// Tokio's clock, so that a paused one drives everything; or what a layer further out has just
/// read.
pub(crate) fn now() -> Instant {
    steadfast_core::now_or(|| tokio::time::Instant::now().into_std())
}
