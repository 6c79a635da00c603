//! `Retry-After` and its vendors' spellings, against a reading of the plain cases by hand.
#![no_main]

use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderName, header};
use libfuzzer_sys::{Corpus, fuzz_target};
use steadfast_core::Hint;
use steadfast_core::hint::MILLISECOND_HEADERS;
use steadfast_fuzz::{fields, map};

/// Where the wall clock stands: 2026-11-30T00:00:00Z.
const NOW: Duration = Duration::from_secs(1_795_996_800);

fuzz_target!(|data: &[u8]| -> Corpus {
    let [a, b, c] = MILLISECOND_HEADERS;
    let names = [header::RETRY_AFTER, header::DATE, header::AGE, a, b, c];
    let Some(fields) = fields(data, &names) else {
        return Corpus::Reject;
    };
    let read = |fields: &HeaderMap| Hint::of(fields, || SystemTime::UNIX_EPOCH + NOW);
    let hint = read(&map(&fields));
    assert!(
        !matches!(hint, Hint::Stop | Hint::Exactly(_)),
        "no header here can say that"
    );

    // Of several lines the longest wait counts: their order says nothing. A `Date` is single.
    let dates = fields.iter().filter(|(name, _)| name == header::DATE);
    if dates.count() < 2 {
        assert_eq!(read(&map(fields.iter().rev())), hint);
    }
    if let [(name, value)] = &*fields {
        match (wait(name, value.as_bytes()), hint) {
            (Some(wait), hint) => assert_eq!(hint, Hint::Wait(wait), "{value:?}"),
            (None, Hint::Wait(_)) => assert!(is_number_or_date(name, value.as_bytes())),
            (None, _) => {}
        }
    }
    Corpus::Keep
});

/// What up to nine digits alone mean.
fn wait(name: &HeaderName, value: &[u8]) -> Option<Duration> {
    let plain = (1..10).contains(&value.len()) && value.iter().all(u8::is_ascii_digit);
    let number = std::str::from_utf8(value).ok()?.parse().ok();
    let number: u64 = number.filter(|_| plain)?;
    match name {
        name if name == header::RETRY_AFTER => Some(Duration::from_secs(number)),
        name if MILLISECOND_HEADERS.contains(name) => Some(Duration::from_millis(number)),
        _ => None,
    }
}

/// Whether a wait can come of it at all: digits and a dot, or a date with its time of day.
fn is_number_or_date(name: &HeaderName, value: &[u8]) -> bool {
    let value = value.trim_ascii();
    let number = value
        .iter()
        .all(|byte| byte.is_ascii_digit() || *byte == b'.');
    let date =
        name == header::RETRY_AFTER && value.iter().filter(|byte| **byte == b':').count() == 2;
    value.iter().any(u8::is_ascii_digit) && (number || date)
}
