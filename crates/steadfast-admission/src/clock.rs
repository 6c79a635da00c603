//! The only place that reads clocks.

use std::time::{Instant, SystemTime};

/// Tokio's clock, so that a paused one drives everything; or what a layer further out has just
/// read.
pub(crate) fn now() -> Instant {
    steadfast_core::now_or(|| tokio::time::Instant::now().into_std())
}

/// The wall clock, for dates of peers only.
pub(crate) fn wall() -> SystemTime {
    #[allow(
        clippy::disallowed_methods,
        reason = "an HTTP-date is told by the wall clock"
    )]
    SystemTime::now()
}
