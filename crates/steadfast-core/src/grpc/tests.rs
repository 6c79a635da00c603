use http::HeaderValue;

use super::*;
use crate::{Delivery, Verdict};

fn code(value: &str) -> Option<Code> {
    let mut headers = HeaderMap::new();
    headers.insert(STATUS, HeaderValue::from_str(value).unwrap());
    Code::of(&headers)
}

#[test]
fn every_code_is_read_by_its_number_and_anything_else_is_unknown() {
    for (number, want) in Code::ALL.into_iter().enumerate() {
        assert_eq!(usize::from(want.number()), number);
        assert_eq!(code(&number.to_string()), Some(want));
    }
    for odd in [
        "17", "99", "100", "-1", "+1", "014", "00", "", "OK", "1 4", "1e1",
    ] {
        assert_eq!(code(odd), Some(Code::Unknown), "{odd:?}");
    }
    assert_eq!(Code::of(&HeaderMap::new()), None);
    assert_eq!(Code::Unavailable.to_string(), "UNAVAILABLE");
}

#[test]
fn unavailable_alone_is_retryable_until_others_are_declared() {
    for code in Code::ALL {
        let verdict = code.verdict(RetryableCodes::default());
        match code {
            Code::Ok => assert_eq!(verdict, Verdict::Success),
            Code::Unavailable => assert_eq!(verdict, Verdict::Transient(Delivery::Unknown)),
            _ => assert!(matches!(verdict, Verdict::Permanent(_)), "{code}"),
        }
    }
    let codes = RetryableCodes::default()
        .with(Code::Aborted)
        .without(Code::Unavailable)
        .with(Code::Ok);
    let transient = Verdict::Transient(Delivery::Unknown);
    assert_eq!(Code::Aborted.verdict(codes), transient);
    assert_eq!(
        Code::Unavailable.verdict(codes),
        Verdict::Permanent(Delivery::Unknown)
    );
    assert_eq!(Code::Ok.verdict(codes), Verdict::Success);
}

#[test]
fn previous_attempts_are_absent_on_the_first() {
    let mut headers = HeaderMap::new();
    assert_eq!(previous_attempts(&headers), None);
    for (value, want) in [("1", Some(1)), ("0", Some(0)), ("x", None), ("-1", None)] {
        headers.insert(PREVIOUS_ATTEMPTS, HeaderValue::from_static(value));
        assert_eq!(previous_attempts(&headers), want, "{value}");
    }
}

#[test]
fn a_message_is_told_by_its_content_type() {
    use Transport::{Http2, Web};
    for (kind, want) in [
        (None, None),
        (Some("application/grpc"), Some(Http2)),
        (Some("Application/GRPC"), Some(Http2)),
        (Some("application/grpc+proto"), Some(Http2)),
        (Some("application/grpc;charset=utf-8"), Some(Http2)),
        (Some("application/grpc-web"), Some(Web)),
        (Some("application/grpc-web+proto"), Some(Web)),
        (Some("application/grpc-web-text"), Some(Web)),
        (Some("application/grpcx"), None),
        (Some("application/grpc-other"), None),
        (Some("application/grpc-webs"), None),
        (Some("application/grp"), None),
        (Some("application/json"), None),
        (Some(""), None),
    ] {
        let mut headers = HeaderMap::new();
        if let Some(kind) = kind {
            headers.insert(
                http::header::CONTENT_TYPE,
                http::HeaderValue::from_static(kind),
            );
        }
        assert_eq!(Transport::of(&headers), want, "{kind:?}");
    }
}
