use std::error::Error;
use std::fmt;

use redis::RedisError;

/// A server on which no leases can be kept.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConnectError {
    /// It cannot be reached, or its address cannot be read.
    Redis(RedisError),
    /// It throws records away to make room.
    Evicts {
        /// Its `maxmemory-policy`.
        policy: String,
    },
    /// It does not say what it does to make room.
    PolicyHidden,
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Redis(_) => f.write_str("Redis cannot be reached"),
            Self::Evicts { policy } => write!(
                f,
                "Redis has the maxmemory-policy `{policy}` and must have `noeviction`: an evicted \
                 record runs its operation a second time"
            ),
            Self::PolicyHidden => f.write_str(
                "Redis does not say its maxmemory-policy, which must be `noeviction`: see to it \
                 and say `Eviction::Trusted`",
            ),
        }
    }
}

impl Error for ConnectError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Redis(error) => Some(error),
            Self::Evicts { .. } | Self::PolicyHidden => None,
        }
    }
}

impl From<RedisError> for ConnectError {
    fn from(error: RedisError) -> Self {
        Self::Redis(error)
    }
}
