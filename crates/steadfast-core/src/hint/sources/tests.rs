use std::time::Duration;

use http::HeaderValue;
use proptest::prelude::*;

use super::*;
use crate::grpc::RETRY_PUSHBACK;

const RESET: &str = "x-ratelimit-reset";
/// 2013-07-01T17:33:20Z, the present of field case O-06.
const NOW: u64 = 1_372_700_000;

fn wall() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(NOW)
}

fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in lines {
        headers.append(*name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    headers
}

fn read(hints: &Hints, lines: &[(&'static str, &str)]) -> Hint {
    hints.read(&headers(lines), wall)
}

fn reset_in(unit: ResetUnit) -> Hints {
    Hints::default().with_reset(HeaderName::from_static(RESET), unit)
}

fn rate_limited() -> Hints {
    Hints::default().with(HintSource::RateLimit)
}

const fn wait(secs: u64) -> Hint {
    Hint::Wait(Duration::from_secs(secs))
}

const fn wait_ms(ms: u64) -> Hint {
    Hint::Wait(Duration::from_millis(ms))
}

/// O-06: the declared unit decides, never the size of the number.
#[test]
fn a_reset_header_is_read_in_its_declared_unit_and_never_shortened() {
    use ResetUnit::*;
    for (value, unit, want) in [
        ("1372700873", EpochSeconds, wait(873)),
        ("1372699000", EpochSeconds, wait(0)),
        ("2513", EpochSeconds, wait(0)),
        ("1372700873000", EpochSeconds, wait(1_372_700_873_000 - NOW)),
        ("1372700000.25", EpochSeconds, wait_ms(250)),
        ("1372700873000", EpochMilliseconds, wait(873)),
        ("1372699000000", EpochMilliseconds, wait(0)),
        ("1372700000001", EpochMilliseconds, wait_ms(1)),
        ("2513", DeltaSeconds, wait(2513)),
        ("1372700873", DeltaSeconds, wait(1_372_700_873)),
        ("0", DeltaSeconds, wait(0)),
        ("2513", DeltaMilliseconds, wait_ms(2513)),
        (
            "0.5",
            DeltaMilliseconds,
            Hint::Wait(Duration::from_micros(500)),
        ),
        ("-1", DeltaSeconds, Hint::Unreadable),
        ("6m0s", DeltaSeconds, Hint::Unreadable),
        ("1e9", EpochSeconds, Hint::Unreadable),
    ] {
        let got = read(&reset_in(unit), &[(RESET, value)]);
        assert_eq!(got, want, "{value} as {unit:?}");
    }
    let Hint::Wait(long) = read(&reset_in(EpochSeconds), &[(RESET, &"9".repeat(30))]) else {
        panic!("no wait")
    };
    assert!(
        long > Duration::from_secs(u64::MAX / 2),
        "longer than any limit"
    );
}

#[test]
fn an_undeclared_header_is_not_read() {
    let all = [
        (RESET, "1372700873"),
        ("ratelimit", "\"default\";r=0;t=30"),
        ("ratelimit-reset", "30"),
    ];
    assert_eq!(read(&Hints::default(), &all), Hint::None);
    assert_eq!(Hint::of(&headers(&all), wall), Hint::None);
}

/// The peer's clock runs 90 s ahead of ours: only its own difference counts.
#[test]
fn an_instant_is_measured_against_the_answers_own_date() {
    let skewed = [
        ("date", "Mon, 01 Jul 2013 17:34:50 GMT"),
        (RESET, "1372700150"),
    ];
    let hints = reset_in(ResetUnit::EpochSeconds);
    assert_eq!(read(&hints, &skewed), wait(60));
    let stored = [skewed[0], skewed[1], ("age", "5")];
    assert_eq!(read(&hints, &stored), wait(150));
    let before_1970 = SystemTime::UNIX_EPOCH - Duration::from_secs(10);
    assert_eq!(
        hints.read(&headers(&[(RESET, "5")]), || before_1970),
        wait(15)
    );
}

/// Servers send their limits with every answer, also with a 503 that has nothing to do with them.
#[test]
fn a_limit_that_is_not_used_up_asks_for_nothing() {
    let hints = reset_in(ResetUnit::DeltaSeconds);
    for (left, want) in [
        ("12", Hint::None),
        ("0", wait(30)),
        ("?", wait(30)),
        ("-1", wait(30)),
    ] {
        let lines = [(RESET, "30"), ("x-ratelimit-remaining", left)];
        assert_eq!(read(&hints, &lines), want, "{left} left");
    }
    let openai = HeaderName::from_static("x-ratelimit-reset-tokens");
    let hints = Hints::default().with_reset(openai, ResetUnit::DeltaSeconds);
    let lines = [
        ("x-ratelimit-reset-tokens", "30"),
        ("x-ratelimit-remaining-tokens", "7"),
    ];
    assert_eq!(read(&hints, &lines), Hint::None);
}

#[test]
fn of_several_declared_headers_the_longest_wait_counts() {
    let hints = reset_in(ResetUnit::DeltaSeconds).with_reset(
        HeaderName::from_static("x-quota-reset"),
        ResetUnit::DeltaMilliseconds,
    );
    let lines = |a, b| [(RESET, a), ("x-quota-reset", b)];
    assert_eq!(read(&hints, &lines("2", "7000")), wait(7));
    assert_eq!(read(&hints, &lines("9", "7000")), wait(9));
    assert_eq!(read(&hints, &lines("soon", "7000")), wait(7));
    assert_eq!(read(&hints, &lines("soon", "later")), Hint::Unreadable);
    assert_eq!(read(&hints, &[(RESET, "2"), (RESET, "3")]), wait(3));
}

#[test]
fn rate_limit_tells_the_wait_of_the_policies_that_are_used_up() {
    for (value, want) in [
        (r#""default";r=0;t=30"#, wait(30)),
        (r#"default;r=0;t=30"#, wait(30)),
        (r#""default";t=30"#, wait(30)),
        (r#""default";r=50;t=30"#, Hint::None),
        (r#""default";r=0"#, Hint::None),
        (r#""burst";r=0;t=2, "day";r=0;t=3600"#, wait(3600)),
        (r#""burst";r=0;t=2, "day";r=9;t=3600"#, wait(2)),
        (r#""default";r=0;t=0"#, wait(0)),
        (r#""default";r=0;t=-5"#, Hint::Unreadable),
        (r#""default";r=0;t=1.5"#, Hint::Unreadable),
        (r#""default";r=0;t="30""#, Hint::Unreadable),
        (r#""burst";r=0;t=x, "day";r=0;t=7"#, wait(7)),
        (r#""default";r=0;t=9999999999999999"#, Hint::Unreadable),
        (
            r#""default";r=0;t=999999999999999"#,
            wait(999_999_999_999_999),
        ),
        // The grammar of older drafts, under the same name.
        ("limit=100, remaining=0, reset=50", Hint::Unreadable),
        ("(a b);t=3", Hint::Unreadable),
        ("\"open", Hint::Unreadable),
        ("", Hint::None),
    ] {
        let got = read(&rate_limited(), &[("ratelimit", value)]);
        assert_eq!(got, want, "{value}");
    }
    let two_lines = [
        ("ratelimit", r#""burst";r=0;t=2"#),
        ("ratelimit", r#""day";r=0;t=9"#),
    ];
    assert_eq!(read(&rate_limited(), &two_lines), wait(9));
}

/// O-24, the parser's half.
#[test]
fn pushback_is_exact_and_anything_unreadable_says_stop() {
    for (value, want) in [
        ("0", Hint::Exactly(Duration::ZERO)),
        ("1500", Hint::Exactly(Duration::from_millis(1500))),
        (
            "2147483647",
            Hint::Exactly(Duration::from_millis(2_147_483_647)),
        ),
        ("2147483648", Hint::Stop),
        ("-1", Hint::Stop),
        ("-0", Hint::Stop),
        ("-2147483648", Hint::Stop),
        ("abc", Hint::Stop),
        ("1.5", Hint::Stop),
        ("+5", Hint::Stop),
        ("007", Hint::Stop),
        ("", Hint::Stop),
    ] {
        let lines = [("grpc-retry-pushback-ms", value)];
        assert_eq!(read(&Hints::default(), &lines), want, "{value:?}");
        assert_eq!(Hint::of_pushback(&headers(&lines)), want, "{value:?}");
    }
    let twice = headers(&[
        ("grpc-retry-pushback-ms", "5"),
        ("grpc-retry-pushback-ms", "5"),
    ]);
    assert_eq!(Hint::of_pushback(&twice), Hint::Stop);
    assert_eq!(Hint::of_pushback(&HeaderMap::new()), Hint::None);
}

#[test]
fn the_peers_plainest_word_rules_and_an_unreadable_one_is_passed_over() {
    let hints = rate_limited().with_reset(HeaderName::from_static(RESET), ResetUnit::DeltaSeconds);
    let by_rank = [
        ("grpc-retry-pushback-ms", "1"),
        ("retry-after-ms", "500"),
        ("retry-after", "2"),
        ("ratelimit", "\"p\";r=0;t=3"),
        (RESET, "4"),
    ];
    let want = [
        Hint::Exactly(Duration::from_millis(1)),
        wait_ms(500),
        wait(2),
        wait(3),
        wait(4),
        Hint::None,
    ];
    for (from, want) in want.into_iter().enumerate() {
        let mut lines = by_rank[from..].to_vec();
        lines.reverse();
        assert_eq!(read(&hints, &lines), want, "without the first {from}");
        for line in &mut lines {
            line.1 = "\"soon";
        }
        let garbled = match from {
            0 => Hint::Stop,
            5 => Hint::None,
            _ => Hint::Unreadable,
        };
        assert_eq!(read(&hints, &lines), garbled, "without the first {from}");
    }
}

#[test]
fn each_source_can_be_switched() {
    let lines = [
        (HintSource::Pushback, "grpc-retry-pushback-ms", "1"),
        (HintSource::Milliseconds, "x-ms-retry-after-ms", "1"),
        (HintSource::RetryAfter, "retry-after", "1"),
        (HintSource::RateLimit, "ratelimit", "\"p\";r=0;t=1"),
    ];
    for (source, name, value) in lines {
        let by_default = read(&Hints::default(), &[(name, value)]) != Hint::None;
        assert_eq!(by_default, source != HintSource::RateLimit, "{name}");
        for hints in [Hints::default(), Hints::nothing()] {
            let with = hints.clone().with(source);
            assert!(with.reads(source));
            assert_ne!(read(&with, &[(name, value)]), Hint::None, "{name}");
            let without = with.without(source);
            assert!(!without.reads(source));
            assert_eq!(read(&without, &[(name, value)]), Hint::None, "{name}");
        }
    }
}

#[test]
fn the_default_allocates_nothing() {
    let headers = headers(&[("retry-after", "2")]);
    let told = allocation_counter::measure(|| {
        let hints = Hints::default().clone();
        assert_eq!(hints.read(&headers, wall), wait(2));
    });
    assert_eq!(told.count_total, 0);
}

fn every_source() -> Hints {
    let names = ["a-reset", "b-reset", "c-reset", "d-reset"].map(HeaderName::from_static);
    let units = [
        ResetUnit::DeltaSeconds,
        ResetUnit::DeltaMilliseconds,
        ResetUnit::EpochSeconds,
        ResetUnit::EpochMilliseconds,
    ];
    let declare = |hints: Hints, (name, unit)| hints.with_reset(name, unit);
    names.into_iter().zip(units).fold(rate_limited(), declare)
}

#[test]
fn an_adapters_decoder_is_asked_after_every_plainer_word() {
    const DETAILS: http::HeaderName = http::HeaderName::from_static("details-bin");
    fn decode(value: &http::HeaderValue) -> Hint {
        match value.len() {
            0 => Hint::Unreadable,
            seconds => Hint::Wait(Duration::from_secs(seconds as u64)),
        }
    }
    let hints = Hints::default().with_decoded(DETAILS, decode);
    let mut headers = HeaderMap::new();
    headers.append(DETAILS, "".parse().unwrap());
    assert_eq!(hints.read(&headers, wall), Hint::Unreadable);
    headers.append(DETAILS, "x".parse().unwrap());
    headers.append(DETAILS, "xxx".parse().unwrap());
    let longest = Hint::Wait(Duration::from_secs(3));
    assert_eq!(hints.read(&headers, wall), longest);
    assert_eq!(hints.read_grpc(&headers), longest);
    assert_eq!(Hints::default().read_grpc(&headers), Hint::None);
    headers.insert("retry-after", "1".parse().unwrap());
    assert_eq!(
        hints.read(&headers, wall),
        Hint::Wait(Duration::from_secs(1))
    );
    assert_eq!(
        hints.read_grpc(&headers),
        longest,
        "which is no word of gRPC's"
    );
    headers.insert(RETRY_PUSHBACK, "-1".parse().unwrap());
    assert_eq!(hints.read_grpc(&headers), Hint::Stop);
    let unasked = hints.without(HintSource::Pushback);
    assert_eq!(unasked.read_grpc(&headers), longest);
}

proptest! {
    #[test]
    fn hostile_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        if let Ok(value) = HeaderValue::from_bytes(&bytes) {
            let mut headers = HeaderMap::new();
            for name in ["a-reset", "b-reset", "c-reset", "d-reset", "a-remaining", "ratelimit"] {
                headers.append(name, value.clone());
                headers.append(name, value.clone());
            }
            let _ = every_source().read(&headers, wall);
            headers.insert(RETRY_PUSHBACK, value);
            let _ = every_source().read(&headers, wall);
        }
    }

    #[test]
    fn an_instant_is_never_undercut(at in any::<u64>(), now in 0..u64::MAX / 4, ms in any::<bool>()) {
        let mut headers = HeaderMap::new();
        headers.insert(RESET, HeaderValue::from(at));
        let unit = if ms { ResetUnit::EpochMilliseconds } else { ResetUnit::EpochSeconds };
        let at = if ms { Duration::from_millis(at) } else { Duration::from_secs(at) };
        let now = Duration::from_secs(now);
        let hint = reset_in(unit).read(&headers, || SystemTime::UNIX_EPOCH + now);
        prop_assert_eq!(hint, Hint::Wait(at.saturating_sub(now)));
    }

    #[test]
    fn a_rate_limit_is_never_undercut(waits in proptest::collection::vec((0..2u8, 0..1_000_000u64), 1..6)) {
        let item = |(left, time): &(u8, u64)| format!("\"p\";r={left};t={time}");
        let text: Vec<_> = waits.iter().map(item).collect();
        let mut headers = HeaderMap::new();
        headers.insert("ratelimit", text.join(", ").parse().unwrap());
        let used_up = waits.iter().filter(|(left, _)| *left == 0);
        let want = used_up.map(|(_, time)| wait(*time)).max_by_key(|hint| hint.wait());
        prop_assert_eq!(rate_limited().read(&headers, wall), want.unwrap_or_default());
    }
}
