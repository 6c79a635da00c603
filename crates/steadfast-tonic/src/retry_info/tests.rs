use proptest::prelude::*;

use super::*;

/// A field of bytes.
fn bytes(number: u8, value: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2];
    let mut length = value.len();
    while length >= 0x80 {
        field.push(length as u8 | 0x80);
        length >>= 7;
    }
    field.push(length as u8);
    field.extend(value);
    field
}

fn varint(number: u8, mut value: u64) -> Vec<u8> {
    let mut field = vec![number << 3];
    while value >= 0x80 {
        field.push(value as u8 | 0x80);
        value >>= 7;
    }
    field.push(value as u8);
    field
}

fn any(name: &str, value: &[u8]) -> Vec<u8> {
    let url = format!("type.googleapis.com/{name}");
    bytes(3, &[bytes(1, url.as_bytes()), bytes(2, value)].concat())
}

fn info(seconds: u64, nanos: u64) -> Vec<u8> {
    let duration = [varint(1, seconds), varint(2, nanos)].concat();
    any("google.rpc.RetryInfo", &bytes(1, &duration))
}

fn status(details: &[Vec<u8>]) -> Vec<u8> {
    [varint(1, 14), bytes(2, b"busy"), details.concat()].concat()
}

fn delay(details: &[Vec<u8>]) -> Result<Option<Duration>, UnreadableDetails> {
    let info = RetryInfo::of_details(&status(details))?;
    Ok(info.map(RetryInfo::retry_delay))
}

#[test]
fn a_delay_is_found_among_other_details() {
    let other = any("google.rpc.DebugInfo", &bytes(1, b"frame"));
    let second = Duration::from_millis(1500);
    let details = [other.clone(), info(1, 500_000_000), info(9, 0)];
    assert_eq!(delay(&details), Ok(Some(second)), "the first counts");
    assert_eq!(delay(&[other]), Ok(None));
    assert_eq!(delay(&[]), Ok(None));
    assert_eq!(delay(&[info(0, 0)]), Ok(Some(Duration::ZERO)));
    let nothing = any("google.rpc.RetryInfo", &[]);
    assert_eq!(delay(&[nothing]), Ok(None), "no delay, no hint");
    assert_eq!(delay(&[any("x.google.rpc.RetryInfo", b"?")]), Ok(None));
}

#[test]
fn negative_and_impossible_delays_are_unreadable() {
    for (seconds, nanos) in [
        ((-1_i64) as u64, 0),
        (0, (-1_i64) as u64),
        (0, 1_000_000_000),
        (u64::MAX, 0),
    ] {
        assert_eq!(delay(&[info(seconds, nanos)]), Err(UnreadableDetails));
    }
    let longest = i64::MAX as u64;
    assert_eq!(
        delay(&[info(longest, 0)]),
        Ok(Some(Duration::from_secs(longest)))
    );
}

#[test]
fn what_is_cut_or_no_protobuf_is_unreadable() {
    let whole = status(&[info(1, 5)]);
    let cut = whole.len() - 1;
    assert!(RetryInfo::of_details(&whole).is_ok());
    assert_eq!(RetryInfo::of_details(&whole[..cut]), Err(UnreadableDetails));
    for odd in [
        &[0xff; 40][..],
        &[0x1b],
        &[0x00, 0x01],
        &[
            0x1a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02,
        ],
    ] {
        assert_eq!(
            RetryInfo::of_details(odd),
            Err(UnreadableDetails),
            "{odd:?}"
        );
    }
}

fn header(details: &[u8], padded: bool) -> HeaderValue {
    use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
    let text = match padded {
        true => STANDARD.encode(details),
        false => STANDARD_NO_PAD.encode(details),
    };
    HeaderValue::from_str(&text).unwrap()
}

#[test]
fn a_header_is_read_with_and_without_padding_and_as_a_list() {
    let second = status(&[info(1, 0)]);
    for padded in [true, false] {
        let read = RetryInfo::of_header(&header(&second, padded));
        assert_eq!(read, Hint::Wait(Duration::from_secs(1)));
    }
    let (one, nine) = (header(&second, false), header(&status(&[info(9, 0)]), true));
    let list = format!("{}, {}", one.to_str().unwrap(), nine.to_str().unwrap());
    let list = HeaderValue::from_str(&list).unwrap();
    assert_eq!(
        RetryInfo::of_header(&list),
        Hint::Wait(Duration::from_secs(9))
    );
    let odd = HeaderValue::from_static("no base64!");
    assert_eq!(RetryInfo::of_header(&odd), Hint::Unreadable);
    let long = HeaderValue::from_bytes(&vec![b'A'; MAX_DETAILS + 1]).unwrap();
    assert_eq!(RetryInfo::of_header(&long), Hint::Unreadable);
    assert_eq!(
        RetryInfo::of_header(&header(&status(&[]), true)),
        Hint::None
    );
}

#[test]
fn pushback_comes_before_retry_info() {
    let mut trailers = http::HeaderMap::new();
    trailers.insert(STATUS_DETAILS, header(&status(&[info(9, 0)]), true));
    assert_eq!(
        hints().read_grpc(&trailers),
        Hint::Wait(Duration::from_secs(9))
    );
    assert_eq!(
        Hints::default().read_grpc(&trailers),
        Hint::None,
        "nobody decodes it"
    );
    trailers.insert(
        steadfast_core::grpc::RETRY_PUSHBACK,
        HeaderValue::from_static("5"),
    );
    assert_eq!(
        hints().read_grpc(&trailers),
        Hint::Exactly(Duration::from_millis(5))
    );
}

proptest! {
    #[test]
    fn hostile_bytes_never_panic(noise in proptest::collection::vec(any_byte(), 0..256)) {
        let _ = RetryInfo::of_details(&noise);
        if let Ok(value) = HeaderValue::from_bytes(&noise) {
            prop_assert!(!matches!(RetryInfo::of_header(&value), Hint::Stop | Hint::Exactly(_)));
        }
    }

    #[test]
    fn what_was_written_is_read(seconds in 0..1_u64 << 40, nanos in 0..1_000_000_000_u64) {
        let want = Duration::new(seconds, nanos as u32);
        prop_assert_eq!(delay(&[info(seconds, nanos)]), Ok(Some(want)));
    }
}

/// Bytes that protobuf's tags are made of, more often than others.
fn any_byte() -> impl Strategy<Value = u8> {
    prop_oneof![
        Just(0x0a_u8),
        Just(0x12),
        Just(0x1a),
        Just(0x08),
        0..=255_u8
    ]
}
