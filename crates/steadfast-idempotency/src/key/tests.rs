use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};

use super::*;

fn read(lines: &[&[u8]], syntax: KeySyntax) -> Result<Option<Key>, InvalidKey> {
    let mut headers = HeaderMap::new();
    for line in lines {
        headers.append(IDEMPOTENCY_KEY, HeaderValue::from_bytes(line).unwrap());
    }
    Key::from_headers(&headers, &IDEMPOTENCY_KEY, syntax)
}

/// The rule's text, or the key's.
fn said(line: &str, syntax: KeySyntax) -> String {
    match read(&[line.as_bytes()], syntax) {
        Ok(key) => key.unwrap().to_string(),
        Err(error) => error.rule().to_owned(),
    }
}

fn runner() -> TestRunner {
    TestRunner::new(ProptestConfig {
        rng_seed: RngSeed::Fixed(35),
        failure_persistence: None,
        ..ProptestConfig::default()
    })
}

/// O-43: what each malformed field is called, strict and lenient.
#[test]
fn malformed_fields_are_refused_by_name() {
    const STRING: &str =
        "it must be a Structured Field String, in double quotes (RFC 9651 section 3.3.3)";
    let k255 = "k".repeat(255);
    let k256 = "k".repeat(256);
    let quoted255 = format!("\"{k255}\"");
    let quoted256 = format!("\"{k256}\"");
    // 255 characters, 510 on the wire: the limit counts after unescaping.
    let quotes255 = "\"".repeat(255);
    let escaped255 = format!("\"{}\"", "\\\"".repeat(255));
    for (line, strict, lenient) in [
        ("", STRING, "it must not be empty"),
        ("   ", STRING, "it must not be empty"),
        ("\"\"", "it must not be empty", "it must not be empty"),
        ("\"   \"", "it must not be blank", "it must not be blank"),
        ("k", STRING, "k"),
        ("\"k\"", "k", "k"),
        (" \"k\" ", "k", "k"),
        ("\" k\"", " k", " k"),
        ("\"k\";v=1;w", "k", "k"),
        ("k;v=1", STRING, "k;v=1"),
        ("\"a\\\"b\\\\c\"", "a\"b\\c", "a\"b\\c"),
        ("\"a\\n\"", STRING, STRING),
        ("\"k", STRING, STRING),
        ("\"k\"x", STRING, STRING),
        ("\"a\", \"b\"", STRING, STRING),
        ("(\"a\" \"b\")", STRING, "(\"a\" \"b\")"),
        (":a2V5:", STRING, ":a2V5:"),
        ("?1", STRING, "?1"),
        ("42", STRING, "42"),
        ("ключ", STRING, "it must be printable ASCII"),
        ("\"ключ\"", STRING, STRING),
        ("a\tb", STRING, "it must be printable ASCII"),
        ("\"a\tb\"", STRING, STRING),
        (&k255, STRING, &k255),
        (&quoted255, &k255, &k255),
        (&escaped255, &quotes255, &quotes255),
        (&k256, STRING, "it must have at most 255 characters"),
        (
            &quoted256,
            "it must have at most 255 characters",
            "it must have at most 255 characters",
        ),
    ] {
        assert_eq!(said(line, KeySyntax::Strict), strict, "strict {line:?}");
        assert_eq!(said(line, KeySyntax::Lenient), lenient, "lenient {line:?}");
    }
}

#[test]
fn a_field_that_is_absent_is_no_error_and_one_sent_twice_is() {
    for syntax in [KeySyntax::Strict, KeySyntax::Lenient] {
        assert_eq!(read(&[], syntax), Ok(None));
        let error = read(&[b"\"k\"", b"\"k\""], syntax).unwrap_err();
        assert_eq!(error.rule(), "it must be sent once");
    }
}

/// A UUID that begins with a digit is a Structured Field parse error, one that begins with a
/// letter a Token.
#[test]
fn quoted_and_bare_uuids_are_the_same_key() {
    for uuid in [
        "8e03978e-40d5-43dd-bc93-6894a57f9324",
        "fe03978e-40d5-43dd-bc93-6894a57f9324",
    ] {
        let quoted = format!("\"{uuid}\"");
        let key = Key::parse(uuid).unwrap();
        for (line, syntax) in [
            (uuid, KeySyntax::Lenient),
            (quoted.as_str(), KeySyntax::Lenient),
            (quoted.as_str(), KeySyntax::Strict),
        ] {
            assert_eq!(
                read(&[line.as_bytes()], syntax),
                Ok(Some(key.clone())),
                "{line}"
            );
        }
        assert!(read(&[uuid.as_bytes()], KeySyntax::Strict).is_err());
    }
}

#[test]
fn raw_keys_that_would_not_be_read_back_are_quoted() {
    for (text, want) in [
        ("a\"b", "a\"b"),
        ("\"ab", "\"\\\"ab\""),
        (" ab", "\" ab\""),
        ("ab ", "\"ab \""),
        ("a,b;c=\\", "a,b;c=\\"),
    ] {
        assert_eq!(Key::parse(text).unwrap().to_header(KeyFormat::Raw), want);
    }
}

#[test]
fn every_key_survives_the_wire_in_both_formats() {
    let keys = "[ -~]{0,254}[!-~]|[!-~][ -~]{0,254}|[\" \\\\]{1,8}k";
    runner()
        .run(&keys, |text| {
            let key = Key::parse(&text).unwrap();
            for (format, syntax) in [
                (KeyFormat::StructuredString, KeySyntax::Strict),
                (KeyFormat::StructuredString, KeySyntax::Lenient),
                (KeyFormat::Raw, KeySyntax::Lenient),
            ] {
                let header = key.to_header(format);
                let read = read(&[header.as_bytes()], syntax);
                prop_assert_eq!(read, Ok(Some(key.clone())), "{:?} {:?}", header, syntax);
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn hostile_bytes_neither_panic_nor_come_back_raw() {
    let bytes = prop::collection::vec(
        prop_oneof![any::<u8>(), Just(b'"'), Just(b'\\'), Just(b';'), Just(b' ')],
        0..600,
    );
    runner()
        .run(&bytes, |bytes| {
            for syntax in [KeySyntax::Strict, KeySyntax::Lenient] {
                match Key::from_value(&bytes, syntax) {
                    Ok(key) => prop_assert!(Key::parse(key.as_str()).is_ok()),
                    Err(error) => {
                        let text = error.to_string();
                        prop_assert!(text.bytes().all(|byte| (0x20..=0x7e).contains(&byte)));
                        prop_assert!(text.len() < 4 * 40 + 140, "{}", text);
                    }
                }
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn an_error_names_the_value_and_the_rule() {
    for (text, want) in [
        ("", "'' is not an idempotency key: it must not be empty"),
        (
            "a\nb\u{1b}",
            "'a\\nb\\x1b' is not an idempotency key: it must be printable ASCII",
        ),
    ] {
        assert_eq!(Key::parse(text).unwrap_err().to_string(), want);
    }
    let long = Key::parse(&"x".repeat(4000)).unwrap_err().to_string();
    assert!(
        long.starts_with(&format!("'{}...' is not", "x".repeat(40))),
        "{long}"
    );
}
