//! What does a request say about its call, and how much time does that leave?

use std::time::Duration;

use http::{HeaderMap, HeaderName};
use steadfast_core::{Attempt, Deadline, TimeoutHeader, grpc};

use super::dialect::Dialect;

/// Envoy's number of the attempt, which starts at 1.
const ENVOY_ATTEMPT: HeaderName = HeaderName::from_static("x-envoy-attempt-count");

/// The longest operation id that is taken over, in bytes: the memory and the log lines that a
/// caller can cause are bounded. A UUID has 36.
const MAX_OPERATION: usize = 256;

/// The shortest time that the headers tell; `ignored` is called for each line that tells none.
///
/// `grpc-timeout` counts on gRPC requests only: elsewhere nobody promised what it means.
pub(crate) fn told(
    headers: &HeaderMap,
    known: &[TimeoutHeader],
    dialect: Dialect,
    mut ignored: impl FnMut(&HeaderName),
) -> Option<Duration> {
    let mut shortest: Option<Duration> = None;
    for header in known {
        if header.name() == TimeoutHeader::grpc().name() && !dialect.is_grpc() {
            continue;
        }
        for line in headers.get_all(header.name()) {
            match header.format().decode(line.as_bytes()) {
                Ok(time) => shortest = Some(shortest.map_or(time, |it| it.min(time))),
                Err(_) => ignored(header.name()),
            }
        }
    }
    shortest
}

/// The time of the handler: the smaller of what the caller told and the maximum, less the margin;
/// `None` where there is no limit.
///
/// The margin takes at most half, so that a caller with little time is not refused for it.
pub(crate) fn given(
    told: Option<Duration>,
    maximum: Duration,
    margin: Duration,
) -> Option<Duration> {
    let time = told.map_or(maximum, |told| told.min(maximum));
    (time < Deadline::NO_LIMIT).then(|| time - margin.min(time / 2))
}

/// Which attempt of its caller a request is, where it says so.
///
/// No header tells how many attempts the caller may make, so `max` is only what has been seen.
pub(crate) fn attempt(headers: &HeaderMap, dialect: Dialect) -> Option<Attempt> {
    let number = if dialect.is_grpc() && headers.contains_key(grpc::PREVIOUS_ATTEMPTS) {
        grpc::previous_attempts(headers)?.checked_add(1)?
    } else {
        let text = headers.get(ENVOY_ATTEMPT)?.to_str().ok()?;
        text.parse().ok().filter(|number| *number > 0)?
    };
    let max = number;
    Some(Attempt { number, max })
}

/// The operation's id: visible text of bounded length, else none.
pub(crate) fn operation<'a>(headers: &'a HeaderMap, name: Option<&HeaderName>) -> Option<&'a str> {
    let text = headers.get(name?)?.to_str().ok()?;
    (1..=MAX_OPERATION).contains(&text.len()).then_some(text)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    const MS: Duration = Duration::from_millis(1);
    const KNOWN: [TimeoutHeader; 3] = super::super::config::default_headers();

    fn headers(lines: &[(&'static str, &[u8])]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, HeaderValue::from_bytes(value).unwrap());
        }
        headers
    }

    fn read(lines: &[(&'static str, &[u8])], dialect: Dialect) -> (Option<Duration>, usize) {
        let mut ignored = 0;
        let told = told(&headers(lines), &KNOWN, dialect, |_| ignored += 1);
        (told, ignored)
    }

    #[test]
    fn the_shortest_readable_time_holds() {
        let (http, rpc) = (Dialect::Http, Dialect::Grpc);
        let envoy = "x-envoy-expected-rq-timeout-ms";
        let connect = "connect-timeout-ms";
        for (lines, dialect, want) in [
            (&[][..], http, (None, 0)),
            (&[(envoy, &b"250"[..])], http, (Some(250 * MS), 0)),
            (
                &[(envoy, b"250"), (connect, b"100")],
                http,
                (Some(100 * MS), 0),
            ),
            (
                &[(envoy, b"100"), (envoy, b"250")],
                http,
                (Some(100 * MS), 0),
            ),
            (&[("grpc-timeout", b"1m")], http, (None, 0)),
            (&[("grpc-timeout", b"1m")], rpc, (Some(MS), 0)),
            (
                &[("grpc-timeout", b"1S"), (envoy, b"2")],
                rpc,
                (Some(2 * MS), 0),
            ),
            (&[(envoy, b"0")], http, (Some(Duration::ZERO), 0)),
            // What cannot be read says nothing, and takes nothing from what can.
            (&[(envoy, b"-1")], http, (None, 1)),
            (
                &[(envoy, b"soon"), (envoy, b"250")],
                http,
                (Some(250 * MS), 1),
            ),
            (&[(envoy, b"\xff\xfe"), (connect, b"")], http, (None, 2)),
            (&[("grpc-timeout", b"100000000n")], rpc, (None, 1)),
        ] {
            assert_eq!(read(lines, dialect), want, "{lines:?}");
        }
    }

    #[test]
    fn no_header_gives_more_than_the_maximum() {
        let day = Duration::from_secs(86_400);
        for (told, maximum, margin, want) in [
            (None, Duration::MAX, 10 * MS, None),
            (Some(Duration::MAX), Duration::MAX, 10 * MS, None),
            (None, 300 * MS, 10 * MS, Some(290 * MS)),
            (Some(Duration::MAX), 300 * MS, 10 * MS, Some(290 * MS)),
            (Some(day), 300 * MS, 10 * MS, Some(290 * MS)),
            (Some(100 * MS), 300 * MS, 10 * MS, Some(90 * MS)),
            (
                Some(100 * MS),
                Duration::MAX,
                Duration::ZERO,
                Some(100 * MS),
            ),
            // A margin as long as the time, or longer, leaves half of it.
            (Some(10 * MS), Duration::MAX, 10 * MS, Some(5 * MS)),
            (Some(10 * MS), Duration::MAX, Duration::MAX, Some(5 * MS)),
            (
                Some(Duration::ZERO),
                Duration::MAX,
                10 * MS,
                Some(Duration::ZERO),
            ),
            (Some(day), Duration::ZERO, 10 * MS, Some(Duration::ZERO)),
        ] {
            assert_eq!(given(told, maximum, margin), want, "{told:?} {maximum:?}");
        }
    }

    #[test]
    fn attempts_are_numbered_from_one_by_either_header() {
        let number = |lines: &[(&'static str, &[u8])], dialect| {
            attempt(&headers(lines), dialect).map(|attempt| attempt.number)
        };
        let (envoy, rpc) = ("x-envoy-attempt-count", "grpc-previous-rpc-attempts");
        for (value, want) in [
            (&b"1"[..], Some(1)),
            (b"3", Some(3)),
            (b"0", None),
            (b"x", None),
        ] {
            assert_eq!(number(&[(envoy, value)], Dialect::Http), want);
        }
        assert_eq!(number(&[(rpc, b"1")], Dialect::Grpc), Some(2));
        assert_eq!(number(&[(rpc, b"1")], Dialect::Http), None);
        assert_eq!(number(&[(rpc, b"4294967295")], Dialect::Grpc), None);
        assert_eq!(number(&[(envoy, b"2")], Dialect::Grpc), Some(2));
    }

    #[test]
    fn operation_ids_are_bounded_text() {
        let name = HeaderName::from_static("x-request-id");
        let long = [b'a'; MAX_OPERATION + 1];
        for (value, want) in [
            (&b"op-1"[..], Some("op-1")),
            (b"", None),
            (b"\xff", None),
            (&long, None),
        ] {
            let headers = headers(&[("x-request-id", value)]);
            assert_eq!(operation(&headers, Some(&name)), want);
            assert_eq!(operation(&headers, None), None);
        }
    }
}
