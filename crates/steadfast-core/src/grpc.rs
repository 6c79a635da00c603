//! The words of gRPC over HTTP/2 that need no gRPC library.
//!
//! They stand in an answer's headers where it has no body ("trailers-only"), else in its
//! trailers. [`Hint::of_pushback`](crate::Hint::of_pushback) reads the pushback.

use std::fmt;

use http::{HeaderMap, HeaderName, header};

mod verdict;

pub use verdict::RetryableCodes;

/// `grpc-status`: a [`Code`] in decimal.
pub const STATUS: HeaderName = HeaderName::from_static("grpc-status");
/// `grpc-retry-pushback-ms` (gRFC A6): when the server wants to be called again, if at all.
pub const RETRY_PUSHBACK: HeaderName = HeaderName::from_static("grpc-retry-pushback-ms");
/// `grpc-previous-rpc-attempts` (gRFC A6): attempts of this call before this one; absent on the
/// first.
pub const PREVIOUS_ATTEMPTS: HeaderName = HeaderName::from_static("grpc-previous-rpc-attempts");

/// A gRPC status code (grpc/doc/statuscodes.md). The specification closes the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Code {
    /// Success.
    Ok = 0,
    /// The operation was cancelled, typically by the caller.
    Cancelled = 1,
    /// An error without a better name; every number that is not in this list counts as this one.
    Unknown = 2,
    /// The arguments can never be right.
    InvalidArgument = 3,
    /// The deadline passed before the answer; the work may have been done.
    DeadlineExceeded = 4,
    /// Something was not found.
    NotFound = 5,
    /// What was to be made is there already.
    AlreadyExists = 6,
    /// The caller may not do this.
    PermissionDenied = 7,
    /// A quota, or a whole machine, is used up.
    ResourceExhausted = 8,
    /// The state of the system forbids it until somebody changes that state.
    FailedPrecondition = 9,
    /// A conflict such as a failed transaction: repeat the whole sequence, not the call.
    Aborted = 10,
    /// Past the valid range.
    OutOfRange = 11,
    /// The method does not exist here.
    Unimplemented = 12,
    /// An invariant of the peer's is broken.
    Internal = 13,
    /// The service is not there right now; to be tried again with a backoff.
    Unavailable = 14,
    /// Data was lost for good.
    DataLoss = 15,
    /// The caller is not known.
    Unauthenticated = 16,
}

impl Code {
    /// Every code, each at the index of its number.
    pub const ALL: [Self; 17] = [
        Self::Ok,
        Self::Cancelled,
        Self::Unknown,
        Self::InvalidArgument,
        Self::DeadlineExceeded,
        Self::NotFound,
        Self::AlreadyExists,
        Self::PermissionDenied,
        Self::ResourceExhausted,
        Self::FailedPrecondition,
        Self::Aborted,
        Self::OutOfRange,
        Self::Unimplemented,
        Self::Internal,
        Self::Unavailable,
        Self::DataLoss,
        Self::Unauthenticated,
    ];

    /// The code in an answer's headers or trailers; `None` where they have none.
    ///
    /// What is not a number of the list is [`Unknown`](Self::Unknown), as the specification says.
    ///
    /// ```
    /// use http::{HeaderMap, HeaderValue};
    /// use steadfast_core::grpc::{self, Code};
    ///
    /// let mut trailers = HeaderMap::new();
    /// assert_eq!(Code::of(&trailers), None);
    /// trailers.insert(grpc::STATUS, HeaderValue::from_static("14"));
    /// assert_eq!(Code::of(&trailers), Some(Code::Unavailable));
    /// ```
    pub fn of(headers: &HeaderMap) -> Option<Self> {
        let code = match headers.get(STATUS)?.as_bytes() {
            [ones] => decimal(b'0', *ones),
            [tens, ones] if *tens != b'0' => decimal(*tens, *ones),
            _ => None,
        };
        Some(code.unwrap_or(Self::Unknown))
    }

    /// The code's number on the wire.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The code's name in the specification.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "OK",
            Self::Cancelled => "CANCELLED",
            Self::Unknown => "UNKNOWN",
            Self::InvalidArgument => "INVALID_ARGUMENT",
            Self::DeadlineExceeded => "DEADLINE_EXCEEDED",
            Self::NotFound => "NOT_FOUND",
            Self::AlreadyExists => "ALREADY_EXISTS",
            Self::PermissionDenied => "PERMISSION_DENIED",
            Self::ResourceExhausted => "RESOURCE_EXHAUSTED",
            Self::FailedPrecondition => "FAILED_PRECONDITION",
            Self::Aborted => "ABORTED",
            Self::OutOfRange => "OUT_OF_RANGE",
            Self::Unimplemented => "UNIMPLEMENTED",
            Self::Internal => "INTERNAL",
            Self::Unavailable => "UNAVAILABLE",
            Self::DataLoss => "DATA_LOSS",
            Self::Unauthenticated => "UNAUTHENTICATED",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

fn decimal(tens: u8, ones: u8) -> Option<Code> {
    if !tens.is_ascii_digit() || !ones.is_ascii_digit() {
        return None;
    }
    let number = usize::from(tens - b'0') * 10 + usize::from(ones - b'0');
    Code::ALL.get(number).copied()
}

/// How many attempts of this call came before this one, by
/// [`grpc-previous-rpc-attempts`](PREVIOUS_ATTEMPTS); `None` where it is absent or unreadable.
pub fn previous_attempts(headers: &HeaderMap) -> Option<u32> {
    headers.get(PREVIOUS_ATTEMPTS)?.to_str().ok()?.parse().ok()
}

/// How a gRPC message travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transport {
    /// Over HTTP/2: its status stands in the trailers, or in the head where there is no body.
    Http2,
    /// As gRPC-Web: its trailers are the end of the body.
    Web,
}

impl Transport {
    /// Whether these are the headers of a gRPC message, by content type: `application/grpc` or
    /// `application/grpc-web`, perhaps with a suffix, in any case.
    ///
    /// ```
    /// use http::{HeaderMap, HeaderValue, header::CONTENT_TYPE};
    /// use steadfast_core::grpc::Transport;
    ///
    /// let mut headers = HeaderMap::new();
    /// assert_eq!(Transport::of(&headers), None);
    /// headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc+proto"));
    /// assert_eq!(Transport::of(&headers), Some(Transport::Http2));
    /// ```
    #[inline]
    pub fn of(headers: &HeaderMap) -> Option<Self> {
        const GRPC: &[u8] = b"application/grpc";
        const WEB: &[u8] = b"-web";
        let kind = headers.get(header::CONTENT_TYPE)?.as_bytes();
        let (kind, rest) = kind.split_at_checked(GRPC.len())?;
        if !kind.eq_ignore_ascii_case(GRPC) {
            return None;
        }
        let (transport, rest) = match rest.split_at_checked(WEB.len()) {
            Some((web, rest)) if web.eq_ignore_ascii_case(WEB) => (Self::Web, rest),
            _ => (Self::Http2, rest),
        };
        // `-text` is gRPC-Web's too.
        let ends = |next: &u8| b"+; \t".contains(next) || (transport == Self::Web && *next == b'-');
        rest.first().is_none_or(ends).then_some(transport)
    }
}

#[cfg(test)]
mod tests;
