//! When the peer asks to be called again.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderName, HeaderValue, header};

/// What a failed answer says about when to come back. A lower bound, never an upper one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hint {
    /// Nothing.
    #[default]
    None,
    /// Not before this long from now. Zero asks for no wait, and the own backoff applies.
    Wait(Duration),
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
    /// Reads a failed answer's hint: the finer `retry-after-ms` family first, then `Retry-After`
    /// in all its forms (RFC 9110 §10.2.3).
    ///
    /// - Seconds or milliseconds: digits, also with a fraction, which is rounded up. More digits
    ///   than fit mean longer than any limit.
    /// - Dates in all three forms (§5.6.7), always UTC, measured against the answer's own `Date`
    ///   unless an `Age` says that it comes from a cache; then, or without a `Date`, against
    ///   `wall_clock`. A date that has passed asks for no wait.
    /// - Of several lines the longest wait counts. Negative numbers, signs, exponents and zone
    ///   names other than GMT are unreadable.
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
        let mut unreadable = false;
        for name in &MILLISECOND_HEADERS {
            match longest(headers, name, |text| number(text, NANOS_PER_MILLI)) {
                Self::None => {}
                Self::Unreadable => unreadable = true,
                hint => return hint,
            }
        }
        let now = std::cell::LazyCell::new(|| answered_at(headers).unwrap_or_else(wall_clock));
        match longest(headers, &header::RETRY_AFTER, |text| {
            number(text, NANOS_PER_SECOND).or_else(|| until(text, *now))
        }) {
            Self::None if unreadable => Self::Unreadable,
            hint => hint,
        }
    }
}

/// The longest wait that a line of this header asks for.
fn longest(
    headers: &HeaderMap,
    name: &HeaderName,
    read: impl Fn(&str) -> Option<Duration>,
) -> Hint {
    headers
        .get_all(name)
        .iter()
        .fold(Hint::None, |so_far, line| {
            match (text(line).and_then(&read), so_far) {
                (Some(wait), Hint::Wait(longest)) => Hint::Wait(wait.max(longest)),
                (Some(wait), _) => Hint::Wait(wait),
                (None, Hint::Wait(longest)) => Hint::Wait(longest),
                (None, _) => Hint::Unreadable,
            }
        })
}

fn text(value: &HeaderValue) -> Option<&str> {
    value.to_str().ok().map(str::trim)
}

const NANOS_PER_SECOND: u64 = 1_000_000_000;
const NANOS_PER_MILLI: u64 = 1_000_000;
/// As many digits of a fraction as fit a `u64`.
const MAX_FRACTION_DIGITS: usize = 18;

/// `digits` or `digits.digits`, in units of so many nanoseconds, rounded up, saturating.
fn number(text: &str, nanos_per_unit: u64) -> Option<Duration> {
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (text, None),
    };
    let unit = u128::from(nanos_per_unit);
    let whole = u128::from(saturating_digits(whole)?).saturating_mul(unit);
    let part = match fraction {
        None => 0,
        Some(digits) => {
            saturating_digits(digits)?;
            let (kept, rest) = digits.split_at(digits.len().min(MAX_FRACTION_DIGITS));
            let scale = 10_u128.pow(kept.len() as u32);
            let rest = u128::from(rest.bytes().any(|digit| digit != b'0'));
            let kept = u128::from(saturating_digits(kept)?) + rest;
            (kept * unit).div_ceil(scale)
        }
    };
    let nanos = whole.saturating_add(part);
    let secs = u64::try_from(nanos / u128::from(NANOS_PER_SECOND)).unwrap_or(u64::MAX);
    Some(Duration::new(
        secs,
        (nanos % u128::from(NANOS_PER_SECOND)) as u32,
    ))
}

/// A run of at least one digit; `u64::MAX` when it does not fit.
fn saturating_digits(text: &str) -> Option<u64> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(text.parse().unwrap_or(u64::MAX))
}

/// The time until an HTTP-date; zero once it has passed.
fn until(text: &str, now: SystemTime) -> Option<Duration> {
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

/// When the answer was made, by the peer's own clock: its skew then cancels out.
///
/// A stored answer's `Date` lies `Age` in the past, so it says nothing about now.
fn answered_at(headers: &HeaderMap) -> Option<SystemTime> {
    if headers.contains_key(header::AGE) {
        return None;
    }
    httpdate::parse_http_date(text(headers.get(header::DATE)?)?).ok()
}

#[cfg(test)]
mod tests;
