//! Numbers with a unit, as headers write them.

use std::time::Duration;

use http::HeaderValue;

pub(super) const NANOS_PER_SECOND: u64 = 1_000_000_000;
pub(super) const NANOS_PER_MILLI: u64 = 1_000_000;
/// As many digits of a fraction as fit a `u64`.
const MAX_FRACTION_DIGITS: usize = 18;

/// The visible text of a value, without the blanks around it.
pub(super) fn text(value: &HeaderValue) -> Option<&str> {
    value.to_str().ok().map(str::trim)
}

/// `digits` or `digits.digits`, in units of so many nanoseconds, rounded up, saturating.
pub(super) fn number(text: &str, nanos_per_unit: u64) -> Option<Duration> {
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
