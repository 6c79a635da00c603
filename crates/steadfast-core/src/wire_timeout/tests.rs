use http::HeaderValue;
use proptest::prelude::*;

use super::*;

const MS: Duration = Duration::from_millis(1);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn text(format: TimeoutFormat, left: Duration) -> Option<String> {
    match format.encode(left) {
        Announced::Left(value) => Some(value.to_str().unwrap().to_owned()),
        Announced::Nothing | Announced::TooLittle => None,
    }
}

/// The unit in which `written` counts.
fn unit(format: TimeoutFormat, written: &str) -> Duration {
    match (format, written.as_bytes().last()) {
        (TimeoutFormat::Connect | TimeoutFormat::Millis, _) => MS,
        (TimeoutFormat::Seconds, _) => Duration::from_secs(1),
        (TimeoutFormat::Grpc, Some(b'n')) => Duration::from_nanos(1),
        (TimeoutFormat::Grpc, Some(b'u')) => Duration::from_micros(1),
        (TimeoutFormat::Grpc, Some(b'm')) => MS,
        (TimeoutFormat::Grpc, Some(b'S')) => Duration::from_secs(1),
        (TimeoutFormat::Grpc, Some(b'M')) => Duration::from_secs(60),
        (TimeoutFormat::Grpc, Some(b'H')) => Duration::from_secs(3_600),
        (TimeoutFormat::Grpc, other) => panic!("{other:?} is no unit"),
    }
}

// O-11: the durations at which others overflowed 8 digits.
#[test]
fn grpc_timeouts_take_a_coarser_unit_before_a_ninth_digit() {
    for (left, want) in [
        (Duration::from_nanos(1), "1n"),
        (Duration::from_nanos(99_999_999), "99999999n"),
        (100 * MS, "100000u"),
        (Duration::from_nanos(100_000_999), "100000u"),
        (100_000 * MS, "100000m"),
        (Duration::from_secs(100_080), "100080S"),
        (2 * DAY, "172800S"),
        (30 * DAY, "2592000S"),
        (Duration::from_secs(99_999_999), "99999999S"),
        (Duration::from_secs(100_000_000), "1666666M"),
        (Duration::from_secs(99_999_999 * 60 + 59), "99999999M"),
        (Duration::from_secs(100_000_000 * 60), "1666666H"),
        (Duration::from_secs(99_999_999 * 3_600), "99999999H"),
        (Duration::from_secs(100_000_000 * 3_600), "99999999H"),
        (Duration::MAX - Duration::from_nanos(1), "99999999H"),
    ] {
        assert_eq!(
            text(TimeoutFormat::Grpc, left).as_deref(),
            Some(want),
            "{left:?}"
        );
    }
}

#[test]
fn less_than_one_unit_is_not_told_and_no_limit_is_no_header() {
    for (format, one) in [
        (TimeoutFormat::Grpc, Duration::from_nanos(1)),
        (TimeoutFormat::Connect, MS),
        (TimeoutFormat::Millis, MS),
        (TimeoutFormat::Seconds, Duration::from_secs(1)),
    ] {
        let below = one - Duration::from_nanos(1);
        assert_eq!(format.encode(below), Announced::TooLittle);
        assert_eq!(format.encode(Duration::ZERO), Announced::TooLittle);
        assert!(text(format, one).is_some_and(|text| text.starts_with('1')));
        assert_eq!(format.encode(Duration::MAX), Announced::Nothing);
        let longest = text(format, Duration::MAX - Duration::from_nanos(1)).unwrap();
        assert_eq!(format.decode(longest.as_bytes()), Ok(format.longest()));
    }
    assert_eq!(
        text(TimeoutFormat::Connect, 200 * DAY).as_deref(),
        Some("9999999999")
    );
}

#[test]
fn only_the_grammar_is_read() {
    use TimeoutFormat::{Connect, Grpc, Millis, Seconds};
    let hours = Duration::from_secs(99_999_999 * 3_600);
    for (format, value, want) in [
        (Grpc, "99999999H", Some(hours)),
        (Grpc, "2M", Some(Duration::from_secs(120))),
        (Grpc, "00000001S", Some(Duration::from_secs(1))),
        (Grpc, "0n", Some(Duration::ZERO)),
        (Grpc, "1000000000S", None),
        (Grpc, "100000000n", None),
        (Grpc, "1s", None),
        (Grpc, "1h", None),
        (Grpc, "1", None),
        (Grpc, "S", None),
        (Grpc, "", None),
        (Grpc, "+1S", None),
        (Grpc, "-1S", None),
        (Grpc, "1.5S", None),
        (Grpc, " 1S", None),
        (Grpc, "1S ", None),
        (Grpc, "1 S", None),
        (
            Connect,
            "9999999999",
            Some(Duration::from_millis(9_999_999_999)),
        ),
        (Connect, "10000000000", None),
        (Connect, "1m", None),
        (Connect, "0x1", None),
        (Millis, "0", Some(Duration::ZERO)),
        (
            Millis,
            "18446744073709551615",
            Some(Duration::from_millis(u64::MAX)),
        ),
        (Millis, "18446744073709551616", None),
        (Millis, "000000000000000000001", None),
        (Millis, "1e3", None),
        (Seconds, "30", Some(Duration::from_secs(30))),
        (Seconds, "0.5", None),
        (Seconds, "\u{0663}", None),
    ] {
        let read = format.decode(value.as_bytes());
        assert_eq!(read.ok(), want, "{format:?} {value:?}");
    }
}

#[test]
fn an_endless_hostile_value_is_shown_by_its_beginning() {
    let hostile = vec![b'\n'; 1 << 20];
    let error = TimeoutFormat::Grpc.decode(&hostile).unwrap_err();
    assert!(error.to_string().len() < 120, "{error}");
    assert_eq!(error.format(), TimeoutFormat::Grpc);
}

#[test]
fn of_several_lines_the_shortest_holds() {
    let header = TimeoutHeader::envoy();
    let mut headers = HeaderMap::new();
    for line in ["300", "100", "200"] {
        headers.append(header.name(), HeaderValue::from_static(line));
    }
    assert_eq!(header.read(&headers), Some(Ok(100 * MS)));
    headers.append(header.name(), HeaderValue::from_static("soon"));
    assert!(header.read(&headers).is_some_and(|read| read.is_err()));
}

fn any_duration() -> impl Strategy<Value = Duration> {
    // Even in each power of two, so that every unit is met.
    (0..64_u32, any::<u64>(), 0..1_000_000_000_u32)
        .prop_map(|(shift, seconds, nanos)| Duration::new(seconds >> shift, nanos >> (shift / 3)))
        .prop_filter("no limit", |left| *left != Duration::MAX)
}

proptest! {
    #[test]
    fn the_peer_is_told_less_than_one_unit_below_what_is_left(left in any_duration()) {
        for format in TimeoutFormat::ALL {
            match format.encode(left) {
                Announced::Left(value) => {
                    let written = value.to_str().unwrap();
                    let told = format.decode(value.as_bytes()).unwrap();
                    prop_assert!(told <= left && !told.is_zero());
                    if left <= format.longest() {
                        prop_assert!(left - told < unit(format, written), "{written}");
                    } else {
                        prop_assert_eq!(told, format.longest());
                    }
                    if format == TimeoutFormat::Grpc {
                        prop_assert!((2..=9).contains(&written.len()));
                    }
                    if format == TimeoutFormat::Connect {
                        prop_assert!(written.len() <= 10);
                    }
                }
                Announced::TooLittle => prop_assert!(left < Duration::from_secs(1)),
                Announced::Nothing => prop_assert!(false),
            }
        }
    }

    #[test]
    fn hostile_bytes_never_panic_and_never_exceed_the_longest(
        value in proptest::collection::vec(prop_oneof![any::<u8>(), b'0'..=b'9', Just(b'S')], 0..24),
    ) {
        for format in TimeoutFormat::ALL {
            match format.decode(&value) {
                Ok(time) => prop_assert!(time <= format.longest()),
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }
    }
}
