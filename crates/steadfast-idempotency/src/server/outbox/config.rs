use std::num::NonZeroU32;
use std::time::Duration;

use steadfast_core::backoff::Backoff;

/// The knobs of a [`Relay`](super::Relay).
///
/// ```
/// use std::time::Duration;
/// use steadfast_idempotency::server::outbox::RelayConfig;
///
/// let config = RelayConfig::default();
/// assert_eq!(config.send_limit(), Duration::from_secs(30));
/// assert_eq!(config.poll(), Duration::from_secs(1));
/// assert_eq!(config.max_attempts().get(), 20);
/// assert_eq!(config.backoff().base(), Duration::from_secs(1));
/// assert_eq!(config.backoff().cap(), Duration::from_secs(3600));
/// ```
#[derive(Clone, Debug)]
pub struct RelayConfig {
    send_limit: Duration,
    poll: Duration,
    max_attempts: NonZeroU32,
    backoff: Backoff,
}

/// A caller's whole call.
const SEND_LIMIT: Duration = Duration::from_secs(30);
/// A message that is not hurried along waits half of it on average.
const POLL: Duration = Duration::from_secs(1);
/// About half a day at the default backoff: below the day that most peers remember a key.
const MAX_ATTEMPTS: NonZeroU32 = NonZeroU32::new(20).expect("20 is not zero");
const BASE: Duration = Duration::from_secs(1);
const CAP: Duration = Duration::from_secs(60 * 60);

impl RelayConfig {
    /// Sets how long one sending may take. Default 30 s. A message is taken for twice as long.
    #[must_use]
    pub const fn with_send_limit(mut self, limit: Duration) -> Self {
        self.send_limit = limit;
        self
    }

    /// Sets how long an empty table is left alone. Default 1 s.
    #[must_use]
    pub const fn with_poll(mut self, poll: Duration) -> Self {
        self.poll = poll;
        self
    }

    /// Sets how often a message is sent before it is buried. Default 20. Keep the whole time, with
    /// the backoff, below what the other side remembers a key.
    #[must_use]
    pub const fn with_max_attempts(mut self, attempts: NonZeroU32) -> Self {
        self.max_attempts = attempts;
        self
    }

    /// Sets the waits between sendings of one message. Default 1 s to 1 h, full jitter.
    #[must_use]
    pub const fn with_backoff(mut self, backoff: Backoff) -> Self {
        self.backoff = backoff;
        self
    }

    /// How long one sending may take.
    pub const fn send_limit(&self) -> Duration {
        self.send_limit
    }

    /// How long an empty table is left alone.
    pub const fn poll(&self) -> Duration {
        self.poll
    }

    /// How often a message is sent before it is buried.
    pub const fn max_attempts(&self) -> NonZeroU32 {
        self.max_attempts
    }

    /// The waits between sendings of one message.
    pub const fn backoff(&self) -> &Backoff {
        &self.backoff
    }
}

impl Default for RelayConfig {
    fn default() -> Self {
        Self {
            send_limit: SEND_LIMIT,
            poll: POLL,
            max_attempts: MAX_ATTEMPTS,
            backoff: Backoff::default().with_base(BASE).with_cap(CAP),
        }
    }
}
