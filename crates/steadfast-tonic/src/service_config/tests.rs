use std::time::Duration;

use proptest::prelude::*;
use steadfast_core::grpc::Code;
use steadfast_core::{Jitter, Ratio};

use super::*;

fn read(json: &str) -> Result<ServiceConfig, String> {
    ServiceConfig::from_json(json).map_err(|error| error.to_string())
}

fn with_policy(policy: &str) -> String {
    format!(r#"{{ "methodConfig": [{{ "name": [{{}}], "retryPolicy": {{ {policy} }} }}] }}"#)
}

const WHOLE: [(&str, &str); 5] = [
    ("maxAttempts", "4"),
    ("initialBackoff", r#"".1s""#),
    ("maxBackoff", r#""1s""#),
    ("backoffMultiplier", "2"),
    ("retryableStatusCodes", r#"["UNAVAILABLE", 10]"#),
];

/// The whole policy with this field said so, or left out.
fn policy(field: &str, value: Option<&str>) -> String {
    let fields = WHOLE
        .iter()
        .filter_map(|(name, usual)| match *name == field {
            true => value.map(|value| format!("\"{name}\": {value}")),
            false => Some(format!("\"{name}\": {usual}")),
        });
    with_policy(&fields.collect::<Vec<_>>().join(", "))
}

#[test]
fn a_policy_is_read_whole() {
    let config = read(&policy("", None)).unwrap();
    let method = config.method("/any.Service/Any").unwrap();
    let policy = method.retry_policy().unwrap();
    let backoff = policy.backoff();
    assert_eq!(policy.max_attempts().get(), 4);
    assert_eq!(backoff.base(), Duration::from_millis(100));
    assert_eq!(backoff.throttled_base(), backoff.base(), "A6 knows one");
    assert_eq!(backoff.cap(), Duration::from_secs(1));
    assert_eq!(backoff.multiplier().as_f64(), 2.0);
    assert_eq!(
        backoff.jitter(),
        Jitter::Proportional(Ratio::percent(20).unwrap())
    );
    for code in Code::ALL {
        let named = matches!(code, Code::Unavailable | Code::Aborted);
        assert_eq!(policy.retryable_codes().contains(code), named, "{code}");
    }
}

#[test]
fn every_rule_of_a_policy_that_is_broken_is_named_with_its_place() {
    let place = "methodConfig[0].retryPolicy";
    for (field, value, rule) in [
        ("maxAttempts", None, "`maxAttempts` is missing"),
        ("maxAttempts", Some("1"), "it must be 2 or more"),
        ("maxAttempts", Some("0"), "it must be 2 or more"),
        ("maxAttempts", Some("-3"), "-3 is not a whole number"),
        ("maxAttempts", Some("2.5"), "2.5 is not a whole number"),
        ("maxAttempts", Some("\"4\""), "\"4\" is not a number"),
        ("initialBackoff", None, "`initialBackoff` is missing"),
        (
            "initialBackoff",
            Some("\"0s\""),
            "it must be more than zero",
        ),
        ("initialBackoff", Some("1"), "1 is not a string"),
        (
            "initialBackoff",
            Some("\"1\""),
            "\"1\" is not a duration such as \"1.5s\"",
        ),
        (
            "initialBackoff",
            Some("\"-1s\""),
            "\"-1s\" is not a duration such as \"1.5s\"",
        ),
        (
            "initialBackoff",
            Some("\"1ms\""),
            "\"1ms\" is not a duration such as \"1.5s\"",
        ),
        ("maxBackoff", None, "`maxBackoff` is missing"),
        ("maxBackoff", Some("\"0.0s\""), "it must be more than zero"),
        ("backoffMultiplier", None, "`backoffMultiplier` is missing"),
        ("backoffMultiplier", Some("0"), "it must be more than zero"),
        ("backoffMultiplier", Some("-2"), "it must be more than zero"),
        (
            "backoffMultiplier",
            Some("0.5"),
            "below 1 the waits would shrink, which is not supported",
        ),
        (
            "retryableStatusCodes",
            None,
            "`retryableStatusCodes` is missing",
        ),
        (
            "retryableStatusCodes",
            Some("[]"),
            "it must name at least one code",
        ),
        (
            "retryableStatusCodes",
            Some("\"UNAVAILABLE\""),
            "\"UNAVAILABLE\" is not a list",
        ),
    ] {
        let at = match value {
            Some(_) => format!("{place}.{field}"),
            None => place.to_owned(),
        };
        let broken = read(&policy(field, value));
        assert_eq!(broken, Err(format!("{at}: {rule}")), "{field} {value:?}");
    }
    for (codes, wrong) in [("[\"unavailable\"]", "\"unavailable\""), ("[17]", "17")] {
        let broken = read(&policy("retryableStatusCodes", Some(codes)));
        let at = format!("{place}.retryableStatusCodes[0]");
        assert_eq!(broken, Err(format!("{at}: {wrong} is no gRPC code")));
    }
}

#[test]
fn more_attempts_than_five_count_as_five() {
    for (said, read_as) in [(2, 2), (5, 5), (6, 5), (1_000_000, 5)] {
        let config = read(&policy("maxAttempts", Some(&said.to_string()))).unwrap();
        let policy = *config.method("/a/b").unwrap().retry_policy().unwrap();
        assert_eq!(policy.max_attempts().get(), read_as);
    }
}

#[test]
fn the_most_exact_name_wins() {
    let json = r#"{ "methodConfig": [
        { "name": [{}], "timeout": "1s" },
        { "name": [{ "service": "a.B" }, { "service": "c.D", "method": "" }], "timeout": "2s" },
        { "name": [{ "service": "a.B", "method": "C" }], "timeout": "3s", "waitForReady": true },
        { "name": [], "timeout": "4s" },
        { "timeout": "5s" }
    ] }"#;
    let config = read(json).unwrap();
    for (path, seconds) in [
        ("/a.B/C", 3),
        ("/a.B/Other", 2),
        ("/c.D/C", 2),
        ("/x.Y/C", 1),
        ("/", 1),
        ("", 1),
    ] {
        let method = config.method(path).unwrap();
        assert_eq!(
            method.timeout(),
            Some(Duration::from_secs(seconds)),
            "{path}"
        );
        assert_eq!(method.wait_for_ready(), (seconds == 3).then_some(true));
        assert_eq!(method.retry_policy(), None);
    }
    assert!(read("{}").unwrap().method("/a.B/C").is_none());
}

#[test]
fn names_that_cannot_be_are_refused() {
    for (names, place, rule) in [
        (
            r#"[{ "method": "C" }]"#,
            "[0].name[0]",
            "a method without its service",
        ),
        (
            r#"[{}, { "service": "" }]"#,
            "[0].name[1]",
            "this name was given before",
        ),
        (r#"[3]"#, "[0].name[0]", "3 is not an object"),
        (r#"{}"#, "[0].name", "{} is not a list"),
        (
            r#"[{ "service": 3 }]"#,
            "[0].name[0].service",
            "3 is not a string",
        ),
    ] {
        let json = format!(r#"{{ "methodConfig": [{{ "name": {names} }}] }}"#);
        assert_eq!(read(&json), Err(format!("methodConfig{place}: {rule}")));
    }
}

#[test]
fn hedging_is_refused_also_beside_a_retry_policy() {
    let hedging = r#""hedgingPolicy": { "maxAttempts": 3 }"#;
    for beside in ["", r#""retryPolicy": {},"#] {
        let json = format!(r#"{{ "methodConfig": [{{ "name": [{{}}], {beside} {hedging} }}] }}"#);
        let error = read(&json).unwrap_err();
        assert!(
            error.starts_with("methodConfig[0].hedgingPolicy: hedging is not supported"),
            "{error}"
        );
    }
}

#[test]
fn fields_that_nobody_reads_are_passed_over() {
    let json = r#"{
        "loadBalancingConfig": [{ "round_robin": {} }], "healthCheckConfig": 3, "new": null,
        "methodConfig": [{ "name": [{ "service": "a.B", "since": 1 }], "maxRequestMessageBytes": 9,
            "timeout": null, "retryPolicy": null }]
    }"#;
    let config = read(json).unwrap();
    assert_eq!(config.method("/a.B/C"), Some(&MethodConfig::default()));
}

#[test]
fn throttling_has_its_bounds() {
    let throttling = |inside: &str| read(&format!(r#"{{ "retryThrottling": {{ {inside} }} }}"#));
    let config = throttling(r#""maxTokens": 10, "tokenRatio": 0.1"#).unwrap();
    let read = config.retry_throttling().unwrap();
    assert_eq!(
        (read.max_tokens(), read.token_ratio()),
        (10, Ratio::percent(10).unwrap())
    );
    assert!(config.budgets().is_some() && ServiceConfig::default().budgets().is_none());
    for (inside, place) in [
        (r#""maxTokens": 10"#, ""),
        (r#""tokenRatio": 0.1"#, ""),
        (r#""maxTokens": 0, "tokenRatio": 0.1"#, ".maxTokens"),
        (r#""maxTokens": 1001, "tokenRatio": 0.1"#, ".maxTokens"),
        (r#""maxTokens": 10, "tokenRatio": 0"#, ".tokenRatio"),
        (r#""maxTokens": 10, "tokenRatio": -1"#, ".tokenRatio"),
        (r#""maxTokens": 10, "tokenRatio": 0.0004"#, ".tokenRatio"),
    ] {
        let error = throttling(inside).unwrap_err();
        assert!(
            error.starts_with(&format!("retryThrottling{place}: ")),
            "{inside}: {error}"
        );
    }
}

#[test]
fn what_is_no_json_is_refused_with_its_cause() {
    let error = ServiceConfig::from_json("{").unwrap_err();
    assert_eq!(
        (error.to_string().as_str(), error.path()),
        ("the service config: not JSON", "")
    );
    assert!(std::error::Error::source(&error).is_some());
    assert_eq!(
        read("[]"),
        Err("the service config: [] is not an object".to_owned())
    );
}

#[test]
fn durations_are_read_to_the_nanosecond() {
    for (text, want) in [
        ("1s", Some(Duration::from_secs(1))),
        (".1s", Some(Duration::from_millis(100))),
        ("0.000000001s", Some(Duration::from_nanos(1))),
        ("315576000000s", Some(Duration::from_secs(315_576_000_000))),
        ("0s", Some(Duration::ZERO)),
        ("315576000001s", None),
        ("0.0000000001s", None),
        ("1.s", None),
        ("s", None),
        ("1", None),
        ("+1s", None),
        ("1e3s", None),
        ("٣s", None),
        (" 1s", None),
    ] {
        let json = format!(r#"{{ "methodConfig": [{{ "name": [{{}}], "timeout": "{text}" }}] }}"#);
        let timeout = read(&json).map(|config| config.method("/a/b").unwrap().timeout());
        assert_eq!(timeout.ok().flatten(), want, "{text}");
    }
}

proptest! {
    #[test]
    fn hostile_text_never_panics(text in "[\\[\\]{}\":,a-z0-9.s-]{0,64}") {
        let _ = ServiceConfig::from_json(&text);
    }
}
