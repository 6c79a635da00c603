use std::time::Duration;

use tower_layer::Layer;

use super::AttemptTimeout;
use crate::DEFAULT_ATTEMPT_TIMEOUT;

/// Puts an [`AttemptTimeout`] around a service; see the crate's page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptTimeoutLayer {
    limit: Duration,
}

impl AttemptTimeoutLayer {
    /// Gives each attempt this much time, or less where a deadline leaves less.
    ///
    /// `Duration::MAX` is no limit; zero refuses every call.
    pub const fn new(limit: Duration) -> Self {
        Self { limit }
    }

    /// The configured time of one attempt.
    pub const fn limit(&self) -> Duration {
        self.limit
    }
}

impl Default for AttemptTimeoutLayer {
    /// [`DEFAULT_ATTEMPT_TIMEOUT`].
    fn default() -> Self {
        Self::new(DEFAULT_ATTEMPT_TIMEOUT)
    }
}

impl<S> Layer<S> for AttemptTimeoutLayer {
    type Service = AttemptTimeout<S>;

    fn layer(&self, inner: S) -> AttemptTimeout<S> {
        AttemptTimeout::new(inner, self.limit)
    }
}
