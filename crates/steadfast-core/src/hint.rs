//! When the peer asks to be called again.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderName};

mod date;
mod number;
mod pushback;
mod rate_limit;
mod reset;
mod sources;

pub use rate_limit::RATE_LIMIT;
pub use reset::ResetUnit;
pub use sources::{HintSource, Hints};

/// What a failed answer says about when to come back.
///
/// A wait is a lower bound, never an upper one. gRPC's pushback alone is more: it replaces the
/// own wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hint {
    /// Nothing.
    #[default]
    None,
    /// Not before this long from now. Zero asks for no wait, and the own backoff applies.
    Wait(Duration),
    /// After exactly this long, and the backoff begins anew: gRPC's pushback (gRFC A6). It makes
    /// nothing retryable that is not.
    Exactly(Duration),
    /// Do not come back.
    Stop,
    /// Something that no rule can read: the own backoff applies, and the event says so.
    Unreadable,
}

/// The spellings that count milliseconds, in the order in which they are read.
pub const MILLISECOND_HEADERS: [HeaderName; 3] = [
    HeaderName::from_static("retry-after-ms"),
    HeaderName::from_static("x-ms-retry-after-ms"),
    HeaderName::from_static("x-amz-retry-after"),
];

impl Hint {
    /// Reads a failed answer's hint from the sources that need no declaration: gRPC's pushback,
    /// the finer `retry-after-ms` family, `Retry-After`. The rules are those of [`Hints::read`].
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use http::{HeaderMap, HeaderValue, header};
    /// use steadfast_core::Hint;
    ///
    /// let mut headers = HeaderMap::new();
    /// headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1.5"));
    /// let hint = Hint::of(&headers, || SystemTime::UNIX_EPOCH);
    /// assert_eq!(hint, Hint::Wait(Duration::from_millis(1500)));
    /// ```
    pub fn of(headers: &HeaderMap, wall_clock: impl FnOnce() -> SystemTime) -> Self {
        Hints::default().read(headers, wall_clock)
    }

    /// Reads gRPC's pushback alone, from an answer's headers or its trailers: `None`,
    /// [`Exactly`](Self::Exactly) or [`Stop`](Self::Stop).
    ///
    /// The value is a signed 32-bit number of milliseconds in plain decimal. A negative one, one
    /// that cannot be read, and several lines mean "do not retry" (gRFC A6).
    ///
    /// ```
    /// use std::time::Duration;
    /// use http::{HeaderMap, HeaderValue};
    /// use steadfast_core::{Hint, grpc};
    ///
    /// let mut trailers = HeaderMap::new();
    /// assert_eq!(Hint::of_pushback(&trailers), Hint::None);
    /// trailers.insert(grpc::RETRY_PUSHBACK, HeaderValue::from_static("1500"));
    /// assert_eq!(Hint::of_pushback(&trailers), Hint::Exactly(Duration::from_millis(1500)));
    /// trailers.insert(grpc::RETRY_PUSHBACK, HeaderValue::from_static("-1"));
    /// assert_eq!(Hint::of_pushback(&trailers), Hint::Stop);
    /// ```
    pub fn of_pushback(headers: &HeaderMap) -> Self {
        pushback::read(headers)
    }

    /// How long the peer wants to be left alone, if it said so.
    pub const fn wait(self) -> Option<Duration> {
        match self {
            Self::Wait(wait) | Self::Exactly(wait) => Some(wait),
            Self::None | Self::Stop | Self::Unreadable => None,
        }
    }

    /// Of two that rank alike: the longer wait before anything else, then what could not be read.
    fn or_longer(self, other: Self) -> Self {
        match (self, other) {
            (Self::Wait(a), Self::Wait(b)) => Self::Wait(a.max(b)),
            (wait @ Self::Wait(_), _) | (_, wait @ Self::Wait(_)) => wait,
            (Self::None, other) => other,
            (this, _) => this,
        }
    }
}

/// What all lines of this header ask for: of several the longest wait counts.
fn longest(
    headers: &HeaderMap,
    name: &HeaderName,
    read: impl Fn(&str) -> Option<Duration>,
) -> Hint {
    let hint_of = |line: &http::HeaderValue| match number::text(line).and_then(&read) {
        Some(wait) => Hint::Wait(wait),
        None => Hint::Unreadable,
    };
    headers
        .get_all(name)
        .iter()
        .map(hint_of)
        .fold(Hint::None, Hint::or_longer)
}

#[cfg(test)]
mod tests;
