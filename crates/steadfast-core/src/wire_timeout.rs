//! The time that is left, as a header tells it to the next hop.
//!
//! A duration and never an instant: the clocks of two machines agree on how long a second is, but
//! not on what time it is.

use std::time::Duration;

use http::{HeaderMap, HeaderName};

mod decode;
mod encode;
mod format;

pub use decode::InvalidTimeout;
pub use encode::Announced;
pub use format::TimeoutFormat;

/// A header that tells the time left: its name and how the value is written.
///
/// ```
/// use std::time::Duration;
/// use http::{HeaderMap, HeaderName};
/// use steadfast_core::{Announced, TimeoutFormat, TimeoutHeader};
///
/// let ours = TimeoutHeader::new(HeaderName::from_static("x-time-left"), TimeoutFormat::Millis);
/// let Announced::Left(value) = ours.format().encode(Duration::from_millis(1_500)) else {
///     unreachable!()
/// };
/// let mut headers = HeaderMap::new();
/// headers.insert(ours.name(), value);
/// assert_eq!(ours.read(&headers), Some(Ok(Duration::from_millis(1_500))));
/// assert_eq!(TimeoutHeader::grpc().read(&headers), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeoutHeader {
    name: HeaderName,
    format: TimeoutFormat,
}

impl TimeoutHeader {
    /// A header of this name, in this format.
    pub const fn new(name: HeaderName, format: TimeoutFormat) -> Self {
        Self { name, format }
    }

    /// `grpc-timeout`, of gRPC over HTTP/2.
    pub const fn grpc() -> Self {
        Self::new(HeaderName::from_static("grpc-timeout"), TimeoutFormat::Grpc)
    }

    /// `x-envoy-expected-rq-timeout-ms`: what Envoy tells an upstream that it will wait, and what
    /// an Envoy configured to respect it takes from its caller.
    pub const fn envoy() -> Self {
        let name = HeaderName::from_static("x-envoy-expected-rq-timeout-ms");
        Self::new(name, TimeoutFormat::Millis)
    }

    /// `connect-timeout-ms`, of the Connect protocol.
    pub const fn connect() -> Self {
        Self::new(
            HeaderName::from_static("connect-timeout-ms"),
            TimeoutFormat::Connect,
        )
    }

    /// The header's name.
    pub const fn name(&self) -> &HeaderName {
        &self.name
    }

    /// How its value is written.
    pub const fn format(&self) -> TimeoutFormat {
        self.format
    }

    /// The time that these headers leave; `None` where the header is absent.
    ///
    /// Of several lines the shortest time holds, so that a line that somebody adds cannot
    /// lengthen another.
    ///
    /// # Errors
    ///
    /// When one of the lines breaks the format's grammar.
    pub fn read(&self, headers: &HeaderMap) -> Option<Result<Duration, InvalidTimeout>> {
        let lines = headers.get_all(&self.name).iter();
        lines
            .map(|line| self.format.decode(line.as_bytes()))
            .reduce(|shortest, next| Ok(shortest?.min(next?)))
    }
}

#[cfg(test)]
mod tests;
