//! Instants on the calendar, measured by the peer's own clock where that is possible.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, header};

use super::number::text;

/// The time until an HTTP-date; zero once it has passed.
pub(super) fn until_date(text: &str, now: SystemTime) -> Option<Duration> {
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

/// The time until an instant that is told as its distance from 1970; zero once it has passed.
pub(super) fn until_epoch(since_epoch: Duration, now: SystemTime) -> Duration {
    match now.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(now) => since_epoch.saturating_sub(now),
        Err(before) => since_epoch.saturating_add(before.duration()),
    }
}

/// When the answer was made, by the peer's own clock: its skew then cancels out.
///
/// A stored answer's `Date` lies `Age` in the past, so it says nothing about now.
pub(super) fn answered_at(headers: &HeaderMap) -> Option<SystemTime> {
    if headers.contains_key(header::AGE) {
        return None;
    }
    httpdate::parse_http_date(text(headers.get(header::DATE)?)?).ok()
}
