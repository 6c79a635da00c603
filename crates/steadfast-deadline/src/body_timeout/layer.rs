use std::time::Duration;

use tower_layer::Layer;

use super::{BodyTimeout, Limits};
use crate::DEFAULT_IDLE_LIMIT;

/// Puts a [`BodyTimeout`] around a service; see the crate's page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyTimeoutLayer {
    limits: Limits,
}

impl BodyTimeoutLayer {
    /// The longest wait for the next frame. Default: [`DEFAULT_IDLE_LIMIT`].
    ///
    /// It runs while the reader waits: a reader that takes its time is not the peer's silence.
    /// `Duration::MAX` is no limit; zero ends each body that has to be waited for.
    #[must_use]
    pub const fn with_idle(mut self, idle: Duration) -> Self {
        self.limits.idle = idle;
        self
    }

    /// The time from the head to the last byte, however fast bytes flow. Default:
    /// `Duration::MAX`, no limit.
    #[must_use]
    pub const fn with_total(mut self, total: Duration) -> Self {
        self.limits.total = total;
        self
    }

    /// The longest wait for the next frame.
    pub const fn idle(&self) -> Duration {
        self.limits.idle
    }

    /// The time from the head to the last byte.
    pub const fn total(&self) -> Duration {
        self.limits.total
    }
}

impl Default for BodyTimeoutLayer {
    /// [`DEFAULT_IDLE_LIMIT`] and no limit for the whole.
    fn default() -> Self {
        let limits = Limits {
            idle: DEFAULT_IDLE_LIMIT,
            total: Duration::MAX,
        };
        Self { limits }
    }
}

impl<S> Layer<S> for BodyTimeoutLayer {
    type Service = BodyTimeout<S>;

    fn layer(&self, inner: S) -> BodyTimeout<S> {
        BodyTimeout {
            inner,
            limits: self.limits,
        }
    }
}
