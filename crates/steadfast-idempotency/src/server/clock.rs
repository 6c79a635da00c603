//! The only place that reads the wall clock.

use std::time::SystemTime;

/// For keys that say by the wall clock when they were made.
pub(crate) fn wall() -> SystemTime {
    #[allow(
        clippy::disallowed_methods,
        reason = "UUIDs of version 7 are made by the wall clock"
    )]
    SystemTime::now()
}
