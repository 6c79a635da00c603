//! google.rpc.RetryInfo in a status's details: raw, and as the header that carries them.
#![no_main]

use http::HeaderValue;
use libfuzzer_sys::fuzz_target;
use steadfast_core::Hint;
use steadfast_tonic::{RetryInfo, UnreadableDetails};

fuzz_target!(|data: &[u8]| {
    let read = RetryInfo::of_details(data);
    let want = match read {
        Ok(Some(info)) => Hint::Wait(info.retry_delay()),
        Ok(None) => Hint::None,
        Err(UnreadableDetails) => Hint::Unreadable,
    };
    // The header says what the bytes say.
    let text = base64(data);
    let header = HeaderValue::from_str(&text).expect("base64 is visible");
    assert_eq!(RetryInfo::of_header(&header), want);
    // Details after it change nothing.
    let mut after = data.to_vec();
    after.extend([0x1a, 0x02, 0x0a, 0x00]);
    if read.is_ok() {
        assert_eq!(RetryInfo::of_details(&after), read);
    }
    // As the header itself: any bytes that a header can have.
    if let Ok(value) = HeaderValue::from_bytes(data) {
        let hint = RetryInfo::of_header(&value);
        assert!(!matches!(hint, Hint::Stop | Hint::Exactly(_)));
    }
});

/// By hand, so that the decoder is held to another's encoding.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let bits = three.iter().fold(0, |bits, byte| bits << 8 | usize::from(*byte));
        let bits = bits << (8 * (3 - three.len()));
        for place in 0..=three.len() {
            text.push(char::from(DIGITS[bits >> (18 - 6 * place) & 63]));
        }
    }
    text
}
