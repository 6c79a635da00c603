use http::HeaderValue;
use proptest::prelude::*;

use super::*;

/// 2020-06-25T21:28:12Z
fn wall() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_593_120_492)
}

fn of(lines: &[(&'static str, &str)]) -> Hint {
    let mut headers = HeaderMap::new();
    for (name, value) in lines {
        headers.append(*name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    Hint::of(&headers, wall)
}

fn retry_after(value: &str) -> Hint {
    of(&[("retry-after", value)])
}

fn secs(secs: f64) -> Hint {
    Hint::Wait(Duration::from_secs_f64(secs))
}

/// O-01: accepted, and never shortened.
#[test]
fn fractions_of_a_second_are_rounded_up() {
    for value in ["0.129", "0.503", "1.5", "299.997", "292.052427053"] {
        assert_eq!(retry_after(value), secs(value.parse().unwrap()), "{value}");
    }
    assert_eq!(
        retry_after("0.0000000001"),
        Hint::Wait(Duration::from_nanos(1))
    );
    assert_eq!(retry_after("0.9999999999"), secs(1.0));
    let barely = format!("0.{}1", "0".repeat(40));
    assert_eq!(retry_after(&barely), Hint::Wait(Duration::from_nanos(1)));
}

/// O-02: what a number outside of the grammar or the range means.
#[test]
fn negative_past_and_huge_hints() {
    for value in [
        "-1", "-43", "-0", "+5", "1e3", "0x10", "5s", "", ".", "5.", ".5", "1.2.3",
    ] {
        assert_eq!(retry_after(value), Hint::Unreadable, "{value:?}");
    }
    for value in ["0", "0.0", "Wed, 21 Oct 2015 07:28:00 GMT"] {
        assert_eq!(retry_after(value), Hint::Wait(Duration::ZERO), "{value}");
    }
    assert_eq!(
        retry_after("9223372037"),
        Hint::Wait(Duration::from_secs(9_223_372_037))
    );
    assert_eq!(
        retry_after("9999999999"),
        Hint::Wait(Duration::from_secs(9_999_999_999))
    );
    for value in ["99999999999999999999", &"9".repeat(500)] {
        let Hint::Wait(wait) = retry_after(value) else {
            panic!("{value} was not a wait")
        };
        assert!(wait >= Duration::from_secs(u64::MAX), "{wait:?}");
    }
}

/// O-03: an HTTP-date is UTC in every form.
#[test]
fn dates_are_utc_and_measured_against_the_answers_own_date() {
    for date in [
        "Thu, 25 Jun 2020 21:30:12 GMT",
        "Thursday, 25-Jun-20 21:30:12 GMT",
        "Thu Jun 25 21:30:12 2020",
    ] {
        assert_eq!(retry_after(date), secs(120.0), "{date}");
    }
    for zoned in [
        "Thu, 25 Jun 2020 21:30:12",
        "Thu, 25 Jun 2020 21:30:12 EST",
        "2020-06-25",
    ] {
        assert_eq!(retry_after(zoned), Hint::Unreadable, "{zoned}");
    }
    // The peer's clock runs 90 s ahead of ours: only its own difference counts.
    let skewed = [
        ("date", "Thu, 25 Jun 2020 21:29:42 GMT"),
        ("retry-after", "Thu, 25 Jun 2020 21:31:42 GMT"),
    ];
    assert_eq!(of(&skewed), secs(120.0));
    // Out of a cache, the Date says when it was stored.
    let stored = [skewed[0], skewed[1], ("age", "30")];
    assert_eq!(of(&stored), secs(210.0));
    let garbled = [("date", "yesterday"), skewed[1]];
    assert_eq!(of(&garbled), secs(210.0));
}

/// O-03: whatever zone the process is in.
#[test]
fn the_zone_of_the_process_changes_nothing() {
    let same = "hint::tests::dates_are_utc_and_measured_against_the_answers_own_date";
    for zone in ["UTC", "America/New_York", "Asia/Kathmandu"] {
        let child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", same])
            .env("TZ", zone)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&child.stdout);
        assert!(
            child.status.success() && said.contains("1 passed"),
            "{zone}: {said}"
        );
    }
}

#[test]
fn the_wall_clock_is_read_only_for_a_date() {
    let mut headers = HeaderMap::new();
    let never = || -> SystemTime { panic!("the wall clock was read") };
    assert_eq!(Hint::of(&headers, never), Hint::None);
    headers.insert("retry-after", HeaderValue::from_static("3"));
    assert_eq!(Hint::of(&headers, never), secs(3.0));
}

#[test]
fn the_finer_spelling_is_read_first_and_an_unreadable_one_falls_through() {
    let after = ("retry-after", "2");
    for name in ["retry-after-ms", "x-ms-retry-after-ms", "x-amz-retry-after"] {
        assert_eq!(of(&[(name, "500"), after]), secs(0.5), "{name}");
        assert_eq!(of(&[(name, "500.25"), after]), secs(0.50025), "{name}");
        assert_eq!(of(&[(name, "soon"), after]), secs(2.0), "{name}");
        assert_eq!(of(&[(name, "soon")]), Hint::Unreadable, "{name}");
        assert_eq!(
            of(&[(name, "soon"), ("retry-after", "soon")]),
            Hint::Unreadable,
            "{name}"
        );
    }
    assert_eq!(of(&[]), Hint::None);
}

#[test]
fn of_several_lines_the_longest_wait_counts() {
    assert_eq!(of(&[("retry-after", "2"), ("retry-after", "7")]), secs(7.0));
    assert_eq!(of(&[("retry-after", "7"), ("retry-after", "x")]), secs(7.0));
    assert_eq!(of(&[("retry-after", "x"), ("retry-after", "7")]), secs(7.0));
}

proptest! {
    #[test]
    fn hostile_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        if let Ok(value) = HeaderValue::from_bytes(&bytes) {
            let mut headers = HeaderMap::new();
            headers.insert("retry-after", value.clone());
            headers.insert("retry-after-ms", value.clone());
            headers.insert("date", value);
            let _ = Hint::of(&headers, wall);
        }
    }

    #[test]
    fn a_number_is_never_undercut(whole in any::<u64>(), fraction in "[0-9]{1,30}") {
        let text = format!("{whole}.{fraction}");
        let Hint::Wait(wait) = retry_after(&text) else { panic!("{text}") };
        prop_assert!(wait >= Duration::from_secs(whole));
        let nanos: u32 = format!("{fraction:0<9}")[..9].parse().unwrap();
        let floor = Duration::from_secs(whole)
            .checked_add(Duration::from_nanos(nanos.into()))
            .unwrap_or(Duration::MAX);
        prop_assert!(wait >= floor && wait.saturating_sub(floor) <= Duration::from_nanos(1));
    }
}
