use std::time::Duration;

use http::HeaderName;
use steadfast_core::TimeoutHeader;

/// What a [`Propagate`](crate::Propagate) layer tells the next hop.
///
/// ```
/// use std::time::Duration;
/// use http::HeaderName;
/// use steadfast_core::{TimeoutFormat, TimeoutHeader};
/// use steadfast_deadline::{PropagateConfig, PropagateLayer};
///
/// let ours = TimeoutHeader::new(HeaderName::from_static("x-time-left"), TimeoutFormat::Seconds);
/// let config = PropagateConfig::default()
///     .with_headers([TimeoutHeader::grpc(), ours])
///     .with_margin(Duration::from_millis(5))
///     .with_attempt_header(HeaderName::from_static("x-attempt"));
/// let layer = PropagateLayer::new(config);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropagateConfig {
    headers: Vec<TimeoutHeader>,
    margin: Duration,
    operation: Option<HeaderName>,
    attempt: Option<HeaderName>,
    age: Option<HeaderName>,
}

impl Default for PropagateConfig {
    /// `grpc-timeout` on gRPC requests, `x-envoy-expected-rq-timeout-ms` on all; no margin and
    /// nothing else.
    fn default() -> Self {
        Self {
            headers: vec![TimeoutHeader::grpc(), TimeoutHeader::envoy()],
            margin: Duration::ZERO,
            operation: None,
            attempt: None,
            age: None,
        }
    }
}

impl PropagateConfig {
    /// The headers that tell the time left, in the place of the default ones.
    ///
    /// One in gRPC's format goes on gRPC requests only, one in Connect's on all others, and one
    /// that counts milliseconds or seconds on every request. Each of them is removed from a
    /// request on which it is not set.
    #[must_use]
    pub fn with_headers(mut self, headers: impl IntoIterator<Item = TimeoutHeader>) -> Self {
        self.headers = headers.into_iter().collect();
        self
    }

    /// Tells the next hop this much less than is left, for the way back. Default: none.
    ///
    /// An attempt that has no more than the margin left is not sent.
    #[must_use]
    pub const fn with_margin(mut self, margin: Duration) -> Self {
        self.margin = margin;
        self
    }

    /// Tells the operation id of the served request in this header, if there is one. Default:
    /// not.
    #[must_use]
    pub fn with_operation_header(mut self, name: HeaderName) -> Self {
        self.operation = Some(name);
        self
    }

    /// Tells in this header which attempt of its call this one is, the first being 1. Default:
    /// not.
    ///
    /// [`grpc-previous-rpc-attempts`](steadfast_core::grpc::PREVIOUS_ATTEMPTS) counts those before
    /// it, and is absent on the first (gRFC A6).
    #[must_use]
    pub fn with_attempt_header(mut self, name: HeaderName) -> Self {
        self.attempt = Some(name);
        self
    }

    /// Tells in this header how many milliseconds ago the call began. Default: not.
    ///
    /// It is known where a [`CallLimit`](crate::CallLimit) stands around the attempts, and zero
    /// on a first attempt; otherwise the header is left out.
    #[must_use]
    pub fn with_age_header(mut self, name: HeaderName) -> Self {
        self.age = Some(name);
        self
    }

    /// The headers that tell the time left.
    pub fn headers(&self) -> &[TimeoutHeader] {
        &self.headers
    }

    /// What is taken off the time left.
    pub const fn margin(&self) -> Duration {
        self.margin
    }

    /// The header of the operation id.
    pub const fn operation_header(&self) -> Option<&HeaderName> {
        self.operation.as_ref()
    }

    /// The header of the attempt's number.
    pub const fn attempt_header(&self) -> Option<&HeaderName> {
        self.attempt.as_ref()
    }

    /// The header of the call's age.
    pub const fn age_header(&self) -> Option<&HeaderName> {
        self.age.as_ref()
    }
}
