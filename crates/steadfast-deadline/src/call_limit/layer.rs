use std::time::Duration;

use tower_layer::Layer;

use super::CallLimit;
use crate::DEFAULT_CALL_LIMIT;

/// Puts a [`CallLimit`] around a service; see the crate's page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallLimitLayer {
    limit: Duration,
}

impl CallLimitLayer {
    /// Gives each call this much time, or less where a deadline leaves less.
    ///
    /// `Duration::MAX` is no limit; zero refuses every call.
    pub const fn new(limit: Duration) -> Self {
        Self { limit }
    }

    /// The configured time of one call.
    pub const fn limit(&self) -> Duration {
        self.limit
    }
}

impl Default for CallLimitLayer {
    /// [`DEFAULT_CALL_LIMIT`].
    fn default() -> Self {
        Self::new(DEFAULT_CALL_LIMIT)
    }
}

impl<S> Layer<S> for CallLimitLayer {
    type Service = CallLimit<S>;

    fn layer(&self, inner: S) -> CallLimit<S> {
        CallLimit::new(inner, self.limit)
    }
}

/// The limit of one call in the place of the configured one, as a value in the request's
/// extensions.
///
/// It may be longer or shorter. Deadlines that are already there hold all the same: only to
/// shorten a call, a deadline in [`CallState`](steadfast_core::CallState) is enough.
///
/// ```
/// use std::time::Duration;
/// use http::Request;
/// use steadfast_deadline::LimitOverride;
///
/// let mut request = Request::new(());
/// request.extensions_mut().insert(LimitOverride::new(Duration::from_secs(300)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitOverride {
    limit: Duration,
}

impl LimitOverride {
    /// This much time for the call; `Duration::MAX` is no limit, zero refuses it.
    pub const fn new(limit: Duration) -> Self {
        Self { limit }
    }

    /// The call's own limit.
    pub const fn limit(self) -> Duration {
        self.limit
    }
}
