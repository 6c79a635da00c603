use std::time::Duration;

/// Time of one attempt unless said otherwise: 10 s.
///
/// A third of the 30 s that a call gets by default, so that a peer that hangs leaves time for
/// another attempt.
pub const DEFAULT_ATTEMPT_TIMEOUT: Duration = Duration::from_secs(10);

/// A duration from which on a limit is none: 30 years.
///
/// Instants that far away cannot be represented on every platform, and tokio's timer overflows
/// shortly before the last one that can.
pub(crate) const NO_LIMIT: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);
