//! The one place that reads a clock: tokio's, so that a paused one drives everything.

use std::time::Instant;

use tokio::time;

pub(crate) fn now() -> Instant {
    time::Instant::now().into_std()
}
