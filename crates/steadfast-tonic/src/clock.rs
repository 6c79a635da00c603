//! The only place that reads a clock.

use std::time::Instant;

use steadfast_core::now_or;

/// Tokio's clock, so that a paused one drives everything; a layer further out that has just read it
/// spares this reading.
pub(crate) fn now() -> Instant {
    now_or(|| tokio::time::Instant::now().into_std())
}
