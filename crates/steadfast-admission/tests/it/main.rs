//! What each layer lets through, and what it tells, on a paused clock.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::time::Duration;

mod arrivals;
mod breaker;
mod bulkhead;
mod cooldown;
mod fallback;
mod inner;
mod knobs;
mod off;
mod peer;

const MS: Duration = Duration::from_millis(1);
