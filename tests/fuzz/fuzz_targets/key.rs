//! The idempotency key's field, strict and lenient; what is read is written and read again.
#![no_main]

use http::{HeaderMap, HeaderValue};
use libfuzzer_sys::{Corpus, fuzz_target};
use steadfast_fuzz::{fields, map};
use steadfast_idempotency::{IDEMPOTENCY_KEY, Key, KeyFormat, KeySyntax};

fuzz_target!(|data: &[u8]| -> Corpus {
    let Some(fields) = fields(data, &[IDEMPOTENCY_KEY]) else {
        return Corpus::Reject;
    };
    let headers = map(&fields);
    let strict = read(&headers, KeySyntax::Strict);
    let lenient = read(&headers, KeySyntax::Lenient);
    assert!(
        fields.len() == 1 || (strict.is_none() && lenient.is_none()),
        "sent twice"
    );
    if strict.is_some() {
        assert_eq!(strict, lenient, "both spellings name one key");
    }
    let Some(key) = lenient else {
        return Corpus::Keep;
    };
    let text = key.as_str();
    assert!((1..=255).contains(&text.len()));
    assert!(text.bytes().all(|byte| (0x20..=0x7e).contains(&byte)));
    assert!(text.contains(|c| c != ' '));
    assert_eq!(Key::parse(text).as_ref(), Ok(&key));
    for format in [KeyFormat::StructuredString, KeyFormat::Raw] {
        let value = key.to_header(format);
        let again = read(&one(value.clone()), KeySyntax::Lenient);
        assert_eq!(again.as_ref(), Some(&key), "{value:?}");
    }
    let value = key.to_header(KeyFormat::StructuredString);
    assert_eq!(read(&one(value), KeySyntax::Strict), Some(key));
    Corpus::Keep
});

fn read(headers: &HeaderMap, syntax: KeySyntax) -> Option<Key> {
    match Key::from_headers(headers, &IDEMPOTENCY_KEY, syntax) {
        Ok(key) => Some(key.expect("the field is there")),
        Err(error) => {
            // A message of ours, whatever the bytes were.
            assert!(error.to_string().is_ascii());
            None
        }
    }
}

fn one(value: HeaderValue) -> HeaderMap {
    map(&[(IDEMPOTENCY_KEY, value)])
}
