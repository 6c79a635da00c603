use http::{HeaderName, header};
use steadfast_core::TimeoutHeader;

use super::*;

const MS: Duration = Duration::from_millis(1);

fn request(kind: &'static str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers
}

fn line<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut lines = headers.get_all(name).iter();
    let line = lines.next().map(|line| line.to_str().unwrap());
    assert_eq!(lines.next(), None, "one line of {name}");
    line
}

fn both(left: Option<Duration>) -> Left {
    Left {
        call: left,
        attempt: left,
    }
}

#[test]
fn grpc_is_told_the_calls_time_in_every_header_and_others_the_attempts() {
    let left = Left {
        call: Some(250 * MS),
        attempt: Some(100 * MS),
    };
    let mut headers = request("application/grpc");
    time_left(&PropagateConfig::default(), left, &mut headers).unwrap();
    assert_eq!(line(&headers, "grpc-timeout"), Some("250000u"));
    assert_eq!(
        line(&headers, "x-envoy-expected-rq-timeout-ms"),
        Some("250")
    );
    let mut headers = request("application/json");
    time_left(&PropagateConfig::default(), left, &mut headers).unwrap();
    assert_eq!(
        line(&headers, "x-envoy-expected-rq-timeout-ms"),
        Some("100")
    );
}

#[test]
fn each_kind_of_request_is_told_in_its_own_words() {
    let all = [
        TimeoutHeader::grpc(),
        TimeoutHeader::connect(),
        TimeoutHeader::envoy(),
    ];
    let config = PropagateConfig::default().with_headers(all);
    for (kind, grpc, connect) in [
        ("application/grpc+proto", Some("1500000u"), None),
        ("application/json", None, Some("1500")),
    ] {
        let mut headers = request(kind);
        time_left(&config, both(Some(1_500 * MS)), &mut headers).unwrap();
        assert_eq!(line(&headers, "grpc-timeout"), grpc);
        assert_eq!(line(&headers, "connect-timeout-ms"), connect);
        assert_eq!(
            line(&headers, "x-envoy-expected-rq-timeout-ms"),
            Some("1500")
        );
    }
}

#[test]
fn what_the_request_says_itself_is_replaced_unless_it_is_shorter() {
    let config = PropagateConfig::default();
    let envoy = (
        "text/plain",
        "x-envoy-expected-rq-timeout-ms",
        "grpc-timeout",
    );
    let grpc = ("application/grpc", "grpc-timeout", "x-unused");
    for ((kind, name, other), own, left, want) in [
        (envoy, &["99999", "1H"][..], Some(100 * MS), Some("100")),
        (envoy, &["40"], Some(100 * MS), Some("40")),
        (envoy, &["40"], None, None),
        (envoy, &["soon"], Some(100 * MS), Some("100")),
        (envoy, &["soon"], None, None),
        (grpc, &["1H"], Some(100 * MS), Some("100000u")),
        (grpc, &["40m"], Some(100 * MS), Some("40000000n")),
        (grpc, &["40m"], None, Some("40000000n")),
        (grpc, &["soon"], None, None),
        (grpc, &[], None, None),
    ] {
        let mut headers = request(kind);
        for value in own {
            headers.append(name, HeaderValue::from_static(value));
        }
        // No word of this kind of request.
        headers.append(other, HeaderValue::from_static("1H"));
        time_left(&config, both(left), &mut headers).unwrap();
        assert_eq!(line(&headers, name), want, "{own:?} {left:?}");
        if other == "grpc-timeout" {
            assert_eq!(line(&headers, other), None);
        }
    }
}

#[test]
fn less_than_one_unit_after_the_margin_is_too_late() {
    let nanos = Duration::from_nanos;
    for (kind, headers, margin, left, sent) in [
        (
            "text/plain",
            TimeoutHeader::envoy(),
            nanos(0),
            nanos(999_999),
            false,
        ),
        ("text/plain", TimeoutHeader::envoy(), nanos(0), MS, true),
        (
            "text/plain",
            TimeoutHeader::envoy(),
            5 * MS,
            6 * MS - nanos(1),
            false,
        ),
        ("text/plain", TimeoutHeader::envoy(), 5 * MS, 6 * MS, true),
        (
            "text/plain",
            TimeoutHeader::envoy(),
            Duration::MAX,
            6 * MS,
            false,
        ),
        (
            "application/grpc",
            TimeoutHeader::grpc(),
            nanos(0),
            nanos(1),
            true,
        ),
        (
            "application/grpc",
            TimeoutHeader::grpc(),
            nanos(0),
            nanos(0),
            false,
        ),
        // The header does not apply, and the deadline has come all the same.
        (
            "text/plain",
            TimeoutHeader::grpc(),
            nanos(0),
            nanos(0),
            false,
        ),
        (
            "text/plain",
            TimeoutHeader::grpc(),
            nanos(0),
            nanos(1),
            true,
        ),
    ] {
        let config = PropagateConfig::default()
            .with_headers([headers])
            .with_margin(margin);
        let told = time_left(&config, both(Some(left)), &mut request(kind));
        assert_eq!(told.is_ok(), sent, "{kind} {config:?} {left:?}");
    }
}

#[test]
fn attempts_are_counted_from_one_and_before_by_grpcs_name() {
    let ours = HeaderName::from_static("x-attempt");
    for (number, plain, before) in [(1, "1", None), (2, "2", Some("1")), (3, "3", Some("2"))] {
        let mut headers = request("application/grpc");
        headers.insert(grpc::PREVIOUS_ATTEMPTS, HeaderValue::from_static("7"));
        let config = PropagateConfig::default().with_attempt_header(ours.clone());
        attempt(&config, number, &mut headers);
        assert_eq!(line(&headers, "x-attempt"), Some(plain));
        let config = PropagateConfig::default().with_attempt_header(grpc::PREVIOUS_ATTEMPTS);
        attempt(&config, number, &mut headers);
        assert_eq!(line(&headers, "grpc-previous-rpc-attempts"), before);
    }
}

#[test]
fn an_unknown_age_is_left_out_and_an_operation_id_that_is_no_header_too() {
    let name = HeaderName::from_static;
    let config = PropagateConfig::default()
        .with_age_header(name("x-age"))
        .with_operation_header(name("x-operation"));
    let mut headers = request("text/plain");
    headers.insert("x-age", HeaderValue::from_static("1"));
    headers.insert("x-operation", HeaderValue::from_static("own"));
    age(&config, None, &mut headers);
    operation(&config, None, &mut headers);
    operation(&config, Some("two\nlines"), &mut headers);
    assert_eq!(line(&headers, "x-age"), None);
    assert_eq!(line(&headers, "x-operation"), Some("own"));
    age(
        &config,
        Some(1_234 * MS + Duration::from_nanos(1)),
        &mut headers,
    );
    operation(&config, Some("order-7"), &mut headers);
    assert_eq!(line(&headers, "x-age"), Some("1234"));
    assert_eq!(line(&headers, "x-operation"), Some("order-7"));
    age(&config, Some(Duration::MAX), &mut headers);
    assert_eq!(line(&headers, "x-age"), Some("18446744073709551615"));
}
