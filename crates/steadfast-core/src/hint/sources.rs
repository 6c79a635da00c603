use std::cell::LazyCell;
use std::iter;
use std::sync::Arc;
use std::time::SystemTime;

use http::{HeaderMap, HeaderName, HeaderValue, header};

use super::number::{NANOS_PER_MILLI, NANOS_PER_SECOND, number};
use super::reset::Reset;
use super::{Hint, MILLISECOND_HEADERS, ResetUnit, date, longest, pushback, rate_limit};

/// A header, or a family of them, that says when to come back. In the order in which they are
/// read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HintSource {
    /// `grpc-retry-pushback-ms` (gRFC A6). Read by default.
    Pushback,
    /// The [`MILLISECOND_HEADERS`]. Read by default.
    Milliseconds,
    /// `Retry-After` (RFC 9110 §10.2.3). Read by default.
    RetryAfter,
    /// `t` of the `RateLimit` field (draft-ietf-httpapi-ratelimit-headers). Not read by default:
    /// it is a draft, and older ones of the same name have another grammar.
    RateLimit,
}

/// Which headers of a failed answer are read as hints.
///
/// Default: pushback, the millisecond family and `Retry-After`. Cheap to clone; the default
/// allocates nothing.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use http::{HeaderMap, HeaderName, HeaderValue};
/// use steadfast_core::{Hint, HintSource, Hints, ResetUnit};
///
/// let reset = HeaderName::from_static("x-ratelimit-reset");
/// let hints = Hints::default()
///     .with(HintSource::RateLimit)
///     .with_reset(reset.clone(), ResetUnit::EpochSeconds);
///
/// let mut headers = HeaderMap::new();
/// headers.insert(reset, HeaderValue::from_static("1372700873"));
/// let now = || SystemTime::UNIX_EPOCH + Duration::from_secs(1_372_700_000);
/// assert_eq!(hints.read(&headers, now), Hint::Wait(Duration::from_secs(873)));
/// assert_eq!(Hints::default().read(&headers, now), Hint::None, "nobody declared it");
/// ```
#[derive(Clone, Debug)]
pub struct Hints {
    pushback: bool,
    milliseconds: bool,
    retry_after: bool,
    rate_limit: bool,
    resets: Option<Arc<[Reset]>>,
    decoded: Option<Arc<[Decoded]>>,
}

/// A header whose words only an adapter can read.
type Decoded = (HeaderName, fn(&HeaderValue) -> Hint);

impl Default for Hints {
    fn default() -> Self {
        Self {
            pushback: true,
            milliseconds: true,
            retry_after: true,
            ..Self::NOTHING
        }
    }
}

impl Hints {
    const NOTHING: Self = Self {
        pushback: false,
        milliseconds: false,
        retry_after: false,
        rate_limit: false,
        resets: None,
        decoded: None,
    };

    /// Reads no header: for peers whose hints are wrong.
    pub const fn nothing() -> Self {
        Self::NOTHING
    }

    /// Reads this source too.
    #[must_use]
    pub const fn with(mut self, source: HintSource) -> Self {
        *self.switch(source) = true;
        self
    }

    /// Does not read this source.
    #[must_use]
    pub const fn without(mut self, source: HintSource) -> Self {
        *self.switch(source) = false;
        self
    }

    /// Reads this header in this unit, as `X-RateLimit-Reset` is used by the peer.
    ///
    /// Where the header's name holds `reset` and the header with `remaining` in its place says
    /// that something is left, it asks for nothing. Of several declared headers the longest wait
    /// counts; a name declared twice is read in both units.
    #[must_use]
    pub fn with_reset(mut self, name: HeaderName, unit: ResetUnit) -> Self {
        let so_far = self.resets.iter().flat_map(|resets| resets.iter()).cloned();
        self.resets = Some(so_far.chain([Reset::new(name, unit)]).collect());
        self
    }

    /// Reads this header by `decode`, for words that need a library: an adapter's, such as
    /// google.rpc.RetryInfo. `decode` sees what any peer may send, so it must be quick and not
    /// panic. Of a gRPC status it is read in headers and trailers alike; pushback, which is
    /// plainer, comes before it. Of several lines and headers the longest wait counts.
    #[must_use]
    pub fn with_decoded(mut self, name: HeaderName, decode: fn(&HeaderValue) -> Hint) -> Self {
        let so_far = self.decoded.iter().flat_map(|all| all.iter()).cloned();
        self.decoded = Some(so_far.chain([(name, decode)]).collect());
        self
    }

    /// Reads the hint of a gRPC status, in an answer's headers or its trailers: pushback if it is
    /// read at all, then [decoded](Self::with_decoded) headers.
    pub fn read_grpc(&self, headers: &HeaderMap) -> Hint {
        let pushback = match self.pushback {
            true => pushback::read(headers),
            false => Hint::None,
        };
        match pushback {
            Hint::None => self.read_decoded(headers),
            pushback => pushback,
        }
    }

    fn read_decoded(&self, headers: &HeaderMap) -> Hint {
        let decoded = self.decoded.iter().flat_map(|all| all.iter());
        let hints = decoded.flat_map(|(name, decode)| headers.get_all(name).iter().map(*decode));
        hints.fold(Hint::None, Hint::or_longer)
    }

    const fn switch(&mut self, source: HintSource) -> &mut bool {
        match source {
            HintSource::Pushback => &mut self.pushback,
            HintSource::Milliseconds => &mut self.milliseconds,
            HintSource::RetryAfter => &mut self.retry_after,
            HintSource::RateLimit => &mut self.rate_limit,
        }
    }

    /// Whether this source is read.
    pub const fn reads(&self, source: HintSource) -> bool {
        match source {
            HintSource::Pushback => self.pushback,
            HintSource::Milliseconds => self.milliseconds,
            HintSource::RetryAfter => self.retry_after,
            HintSource::RateLimit => self.rate_limit,
        }
    }

    /// Reads a failed answer's hint. A success's headers are not to be asked: servers send their
    /// limits with every answer.
    ///
    /// One precedence, the peer's plainest word first: pushback, the millisecond headers in their
    /// order, `Retry-After`, `RateLimit`, declared reset headers, decoded ones. The first that can be read
    /// rules; one that cannot be read is passed over, and is the result only where no other says
    /// anything. An unreadable pushback is [`Hint::Stop`].
    ///
    /// - Seconds or milliseconds: digits, also with a fraction, which is rounded up. More digits
    ///   than fit mean longer than any limit.
    /// - Dates in all three forms (RFC 9110 §5.6.7), always UTC, and instants since 1970 are
    ///   measured against the answer's own `Date` unless an `Age` says that it comes from a
    ///   cache; then, or without a `Date`, against `wall_clock`. One that has passed asks for no
    ///   wait.
    /// - Of several lines the longest wait counts. Negative numbers, signs, exponents and zone
    ///   names other than GMT are unreadable.
    pub fn read(&self, headers: &HeaderMap, wall_clock: impl FnOnce() -> SystemTime) -> Hint {
        if headers.is_empty() {
            return Hint::None;
        }
        let now = LazyCell::new(|| date::answered_at(headers).unwrap_or_else(wall_clock));
        let of_source = |source| match source {
            HintSource::Pushback => pushback::read(headers),
            HintSource::Milliseconds => {
                let read = |text: &str| number(text, NANOS_PER_MILLI);
                let names = MILLISECOND_HEADERS.into_iter();
                first_readable(names.map(|name| longest(headers, &name, read)))
            }
            HintSource::RetryAfter => longest(headers, &header::RETRY_AFTER, |text| {
                number(text, NANOS_PER_SECOND).or_else(|| date::until_date(text, *now))
            }),
            HintSource::RateLimit => rate_limit::read(headers),
        };
        let of_resets = || {
            let resets = self.resets.iter().flat_map(|resets| resets.iter());
            let hints = resets.map(|reset| reset.read(headers, || *now));
            hints.fold(Hint::None, Hint::or_longer)
        };
        let sources = SOURCES.into_iter().filter(|source| self.reads(*source));
        let rest = iter::once_with(of_resets).chain(iter::once_with(|| self.read_decoded(headers)));
        first_readable(sources.map(of_source).chain(rest))
    }
}

/// Those without a unit to declare, in the order in which they are read.
const SOURCES: [HintSource; 4] = [
    HintSource::Pushback,
    HintSource::Milliseconds,
    HintSource::RetryAfter,
    HintSource::RateLimit,
];

/// The first hint that says something; asks no further.
fn first_readable(mut hints: impl Iterator<Item = Hint>) -> Hint {
    let mut otherwise = Hint::None;
    let found = hints.find(|hint| match hint {
        Hint::None => false,
        Hint::Unreadable => {
            otherwise = Hint::Unreadable;
            false
        }
        Hint::Wait(_) | Hint::Exactly(_) | Hint::Stop => true,
    });
    found.unwrap_or(otherwise)
}

#[cfg(test)]
mod tests;
