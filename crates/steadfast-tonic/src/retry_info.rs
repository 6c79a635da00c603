//! google.rpc.RetryInfo, as it comes in `grpc-status-details-bin`.
//!
//! Decoded by hand: four small messages, of which two fields each matter, read without a copy and
//! without recursion, so that nothing a peer sends costs more than its own length.

use std::time::Duration;

use base64::Engine;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use http::{HeaderName, HeaderValue};
use steadfast_core::{Hint, Hints};

mod wire;

use wire::{Field, Fields, Value};

/// The header, or trailer, with the details of a status: base64 of a google.rpc.Status.
pub const STATUS_DETAILS: HeaderName = HeaderName::from_static("grpc-status-details-bin");

/// Bytes of that header that are looked at; a longer one is unreadable. 64 KiB, four times what
/// most HTTP/2 libraries take of all headers together.
pub const MAX_DETAILS: usize = 64 * 1024;

const RETRY_INFO: &[u8] = b"google.rpc.RetryInfo";

/// When a server wants to be called again, by the details of its status.
///
/// A lower bound, as `Retry-After` is; gRPC's pushback, which replaces the wait, comes before it.
///
/// ```
/// use std::time::Duration;
/// use http::HeaderValue;
/// use steadfast_core::Hint;
/// use steadfast_tonic::RetryInfo;
///
/// // code 14, one detail: a RetryInfo of 1.5 s.
/// let details = HeaderValue::from_static(
///     "CA4aNgoodHlwZS5nb29nbGVhcGlzLmNvbS9nb29nbGUucnBjLlJldHJ5SW5mbxIKCggIARCAyrXuAQ==",
/// );
/// assert_eq!(RetryInfo::of_header(&details), Hint::Wait(Duration::from_millis(1500)));
/// assert_eq!(RetryInfo::of_header(&HeaderValue::from_static("!")), Hint::Unreadable);
/// assert_eq!(RetryInfo::of_header(&HeaderValue::from_static("")), Hint::None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryInfo {
    retry_delay: Duration,
}

impl RetryInfo {
    /// How long to wait at least.
    pub const fn retry_delay(self) -> Duration {
        self.retry_delay
    }

    /// The hint in a [`STATUS_DETAILS`] header: `Wait`, `None` where the details have no RetryInfo
    /// or it has no delay, `Unreadable` for what is too long, no base64, no protobuf or negative.
    pub fn of_header(value: &HeaderValue) -> Hint {
        if value.len() > MAX_DETAILS {
            return Hint::Unreadable;
        }
        // Several lines may be one, with commas between.
        let lines = value.as_bytes().split(|byte| *byte == b',');
        lines.map(of_line).fold(Hint::None, longer)
    }

    /// The first RetryInfo with a delay in an encoded google.rpc.Status, such as
    /// [`tonic::Status::details`] gives.
    ///
    /// # Errors
    ///
    /// What is no such message, or has a negative delay.
    pub fn of_details(details: &[u8]) -> Result<Option<Self>, UnreadableDetails> {
        read_status(details).map_err(|wire::Malformed| UnreadableDetails)
    }
}

/// Details of a status that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnreadableDetails;

impl std::fmt::Display for UnreadableDetails {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("these are no details of a status, or ask for a negative wait")
    }
}

impl std::error::Error for UnreadableDetails {}

/// The hints of gRPC answers: the default ones and RetryInfo.
///
/// ```
/// use steadfast_retry::RetryConfig;
///
/// let config = RetryConfig::new().with_hints(steadfast_tonic::hints());
/// # let _ = config;
/// ```
pub fn hints() -> Hints {
    Hints::default().with_decoded(STATUS_DETAILS, RetryInfo::of_header)
}

fn of_line(line: &[u8]) -> Hint {
    /// gRPC's binary headers come with and without padding.
    const BASE64: GeneralPurpose = GeneralPurpose::new(
        &base64::alphabet::STANDARD,
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
    );
    let read = BASE64.decode(line.trim_ascii()).ok();
    match read.map(|details| RetryInfo::of_details(&details)) {
        Some(Ok(Some(info))) => Hint::Wait(info.retry_delay),
        Some(Ok(None)) => Hint::None,
        Some(Err(_)) | None => Hint::Unreadable,
    }
}

fn longer(a: Hint, b: Hint) -> Hint {
    match (a, b) {
        (Hint::Wait(a), Hint::Wait(b)) => Hint::Wait(a.max(b)),
        (wait @ Hint::Wait(_), _) | (_, wait @ Hint::Wait(_)) => wait,
        (Hint::None, other) => other,
        (this, _) => this,
    }
}

/// google.rpc.Status: `repeated google.protobuf.Any details = 3`.
fn read_status(bytes: &[u8]) -> Result<Option<RetryInfo>, wire::Malformed> {
    let mut found = None;
    for field in Fields::of(bytes) {
        if let Field {
            number: 3,
            value: Value::Bytes(any),
        } = field?
        {
            let info = read_any(any)?;
            found = found.or(info);
        }
    }
    Ok(found)
}

/// google.protobuf.Any: `string type_url = 1; bytes value = 2`.
fn read_any(bytes: &[u8]) -> Result<Option<RetryInfo>, wire::Malformed> {
    let (mut url, mut value): (&[u8], &[u8]) = (&[], &[]);
    for field in Fields::of(bytes) {
        match field? {
            Field {
                number: 1,
                value: Value::Bytes(bytes),
            } => url = bytes,
            Field {
                number: 2,
                value: Value::Bytes(bytes),
            } => value = bytes,
            _ => {}
        }
    }
    let name = url.rsplit(|byte| *byte == b'/').next();
    match name == Some(RETRY_INFO) {
        true => read_retry_info(value),
        false => Ok(None),
    }
}

/// google.rpc.RetryInfo: `google.protobuf.Duration retry_delay = 1`, of which
/// `int64 seconds = 1; int32 nanos = 2`.
fn read_retry_info(bytes: &[u8]) -> Result<Option<RetryInfo>, wire::Malformed> {
    let mut delay = None;
    for field in Fields::of(bytes) {
        let Field {
            number: 1,
            value: Value::Bytes(duration),
        } = field?
        else {
            continue;
        };
        // A message that comes twice is merged, as protobuf has it.
        let (seconds, nanos) = delay.get_or_insert((0_u64, 0_u64));
        for field in Fields::of(duration) {
            match field? {
                Field {
                    number: 1,
                    value: Value::Varint(value),
                } => *seconds = value,
                Field {
                    number: 2,
                    value: Value::Varint(value),
                } => *nanos = value,
                _ => {}
            }
        }
    }
    let Some((seconds, nanos)) = delay else {
        return Ok(None);
    };
    // Negative numbers are those with the highest bit.
    let seconds = i64::try_from(seconds).map_err(|_| wire::Malformed)?;
    let nanos = u32::try_from(nanos)
        .ok()
        .filter(|nanos| *nanos < 1_000_000_000);
    let nanos = nanos.ok_or(wire::Malformed)?;
    let retry_delay = Duration::new(seconds.unsigned_abs(), nanos);
    Ok(Some(RetryInfo { retry_delay }))
}

#[cfg(test)]
mod tests;
