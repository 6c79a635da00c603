use std::time::Duration;

/// Time of one attempt unless said otherwise: 10 s.
///
/// A third of the 30 s that a call gets by default, so that a peer that hangs leaves time for
/// another attempt.
pub const DEFAULT_ATTEMPT_TIMEOUT: Duration = Duration::from_secs(10);

/// Time of one call, its attempts and the waits between them, unless said otherwise: 30 s.
///
/// Whoever waits for longer has usually gone.
pub const DEFAULT_CALL_LIMIT: Duration = Duration::from_secs(30);

/// Longest silence between two frames of a response body unless said otherwise: 30 s.
///
/// Twice the interval at which streams that mean to live are usually kept alive.
pub const DEFAULT_IDLE_LIMIT: Duration = Duration::from_secs(30);
