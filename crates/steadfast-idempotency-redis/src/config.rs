use std::time::Duration;

/// The knobs of a [`RedisLeaseStore`](crate::RedisLeaseStore).
///
/// ```
/// use std::time::Duration;
/// use steadfast_idempotency_redis::{Eviction, RedisConfig};
///
/// let config = RedisConfig::default();
/// assert_eq!(config.prefix(), "steadfast:lease");
/// assert_eq!(config.timeout(), Duration::from_secs(2));
/// assert_eq!(config.replicas(), 0);
/// assert_eq!(config.eviction(), Eviction::MustBeOff);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedisConfig {
    prefix: String,
    timeout: Duration,
    replicas: u32,
    eviction: Eviction,
}

/// Whether a server that throws records away to make room is accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Eviction {
    /// Its `maxmemory-policy` must be `noeviction`: an evicted record runs its operation again.
    /// The default.
    #[default]
    MustBeOff,
    /// It is not asked, for servers that hide their policy. That nothing is evicted is yours to
    /// see to.
    Trusted,
}

/// Below the engine's store timeout of 5 s, so that the error says who was slow.
const TIMEOUT: Duration = Duration::from_secs(2);

impl RedisConfig {
    /// Sets the start of every record's name. Default `steadfast:lease`.
    #[must_use]
    pub fn with_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Sets how long a connection and each answer may take. Default 2 s.
    #[must_use]
    pub const fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how many replicas must have each change before it counts as made. Default 0.
    ///
    /// A change that too few have in time counts as failed: a 503 before the handler. It narrows
    /// what a failover loses and does not close it. Each `WAIT` holds up the whole connection.
    #[must_use]
    pub const fn with_replicas(mut self, replicas: u32) -> Self {
        self.replicas = replicas;
        self
    }

    /// Sets whether a server that evicts is accepted. Default: it is not.
    #[must_use]
    pub const fn with_eviction(mut self, eviction: Eviction) -> Self {
        self.eviction = eviction;
        self
    }

    /// The start of every record's name.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// How long a connection and each answer may take.
    pub const fn timeout(&self) -> Duration {
        self.timeout
    }

    /// How many replicas must have each change.
    pub const fn replicas(&self) -> u32 {
        self.replicas
    }

    /// Whether a server that evicts is accepted.
    pub const fn eviction(&self) -> Eviction {
        self.eviction
    }
}

impl Default for RedisConfig {
    fn default() -> Self {
        Self {
            prefix: "steadfast:lease".to_owned(),
            timeout: TIMEOUT,
            replicas: 0,
            eviction: Eviction::MustBeOff,
        }
    }
}
