//! gRPC's status and attempt count, against a reading by the standard library.
#![no_main]

use http::HeaderValue;
use libfuzzer_sys::{Corpus, fuzz_target};
use steadfast_core::grpc::{Code, PREVIOUS_ATTEMPTS, STATUS, previous_attempts};
use steadfast_fuzz::{fields, map};

fuzz_target!(|data: &[u8]| -> Corpus {
    let Some(fields) = fields(data, &[STATUS, PREVIOUS_ATTEMPTS]) else {
        return Corpus::Reject;
    };
    let headers = map(&fields);
    let code = Code::of(&headers);
    assert_eq!(
        code.is_some(),
        headers.contains_key(STATUS),
        "any status is a status"
    );
    if let Some(code) = code {
        let headers = map(&[(STATUS, HeaderValue::from(u16::from(code.number())))]);
        assert_eq!(Code::of(&headers), Some(code));
    }
    if let (Some(number), [(_, value)]) = (previous_attempts(&headers), &*fields) {
        let text = value.to_str().map(str::trim);
        assert_eq!(text.ok().and_then(|text| text.parse().ok()), Some(number));
    }
    Corpus::Keep
});
