//! How the manual writes a value.

use std::fmt::Debug;
use std::time::Duration;

use steadfast::backoff::Multiplier;
use steadfast::grpc::{Code, RetryableCodes};
use steadfast::{HintSource, Hints, Ratio, TimeoutHeader};

pub(super) fn plain(value: impl ToString) -> String {
    value.to_string()
}

pub(super) fn debug(value: impl Debug) -> String {
    format!("{value:?}")
}

pub(super) fn option(value: Option<impl Debug>) -> String {
    value.map_or_else(|| plain("none"), debug)
}

pub(super) fn time(time: Duration) -> String {
    match (time.as_secs(), time.subsec_millis()) {
        _ if time == Duration::MAX => plain("none"),
        (0, 0) => plain("0"),
        (0, ms) => format!("{ms} ms"),
        (s, _) if s % 3600 == 0 => format!("{} h", s / 3600),
        (s, _) if s % 60 == 0 => format!("{} min", s / 60),
        (s, _) => format!("{s} s"),
    }
}

pub(super) fn bytes(bytes: usize) -> String {
    match bytes / 1024 {
        kib if kib % 1024 == 0 => format!("{} MiB", kib / 1024),
        kib => format!("{kib} KiB"),
    }
}

pub(super) fn ratio(ratio: Ratio) -> String {
    format!("{}%", ratio.as_millionths() / 10_000)
}

pub(super) fn multiplier(multiplier: Multiplier) -> String {
    plain(multiplier.as_f64())
}

pub(super) fn statuses<const N: usize>(statuses: [http::StatusCode; N]) -> String {
    statuses.map(|status| status.as_str().to_owned()).join(", ")
}

pub(super) fn headers(headers: &[TimeoutHeader]) -> String {
    let names: Vec<_> = headers.iter().map(|it| it.name().as_str()).collect();
    names.join(", ")
}

pub(super) fn hints(hints: &Hints) -> String {
    use HintSource::{Milliseconds, Pushback, RateLimit, RetryAfter};
    let all = [Pushback, Milliseconds, RetryAfter, RateLimit];
    let read = all.into_iter().filter(|source| hints.reads(*source));
    read.map(debug).collect::<Vec<_>>().join(", ")
}

pub(super) fn codes(codes: RetryableCodes) -> String {
    assert_eq!(codes, RetryableCodes::NONE.with(Code::Unavailable));
    plain(Code::Unavailable)
}
