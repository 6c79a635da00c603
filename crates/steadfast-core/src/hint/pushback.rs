//! gRPC's pushback (gRFC A6, "Pushback").

use std::time::Duration;

use http::HeaderMap;

use super::Hint;
use super::number::text;
use crate::grpc::RETRY_PUSHBACK;

pub(super) fn read(headers: &HeaderMap) -> Hint {
    let mut lines = headers.get_all(RETRY_PUSHBACK).iter();
    match (lines.next(), lines.next()) {
        (None, _) => Hint::None,
        (Some(line), None) => match text(line).and_then(milliseconds) {
            Some(wait) => Hint::Exactly(wait),
            None => Hint::Stop,
        },
        // Which of them the server means, nobody knows.
        (Some(_), Some(_)) => Hint::Stop,
    }
}

/// A signed 32-bit decimal that is not negative; A6 writes it without a plus and without
/// unnecessary zeros.
fn milliseconds(text: &str) -> Option<Duration> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits || (text.len() > 1 && text.starts_with('0')) {
        return None;
    }
    let ms: i32 = text.parse().ok()?;
    Some(Duration::from_millis(ms.unsigned_abs().into()))
}
