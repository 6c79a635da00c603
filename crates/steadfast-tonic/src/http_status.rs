//! What an answer means that is no gRPC at all: a gateway's page, a load balancer's 503.

use std::error::Error;
use std::fmt;

use http::{HeaderMap, StatusCode};
use steadfast_core::grpc::{self, Code, Transport};

/// The gRPC code for an HTTP status that comes without one (grpc/doc/http-grpc-status-mapping.md).
///
/// ```
/// use http::StatusCode;
/// use steadfast_core::grpc::Code;
/// use steadfast_tonic::code_of_http;
///
/// assert_eq!(code_of_http(StatusCode::BAD_GATEWAY), Code::Unavailable);
/// assert_eq!(code_of_http(StatusCode::NOT_FOUND), Code::Unimplemented);
/// assert_eq!(code_of_http(StatusCode::OK), Code::Unknown, "a page is no answer");
/// ```
pub const fn code_of_http(status: StatusCode) -> Code {
    match status.as_u16() {
        400 => Code::Internal,
        401 => Code::Unauthenticated,
        403 => Code::PermissionDenied,
        404 => Code::Unimplemented,
        429 | 502 | 503 | 504 => Code::Unavailable,
        _ => Code::Unknown,
    }
}

/// Whether these are the headers of a gRPC answer. A status in the head counts too: some servers
/// forget the content type of an answer without a body.
pub(crate) fn is_grpc(headers: &HeaderMap) -> bool {
    Transport::of(headers).is_some() || headers.contains_key(grpc::STATUS)
}

/// The cause of a [`Status`](tonic::Status) that was made of an answer without gRPC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotGrpc {
    status: StatusCode,
}

impl NotGrpc {
    pub(crate) const fn new(status: StatusCode) -> Self {
        Self { status }
    }

    /// The answer's HTTP status.
    pub const fn status(&self) -> StatusCode {
        self.status
    }
}

impl fmt::Display for NotGrpc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the answer is no gRPC: HTTP {}", self.status)
    }
}

impl Error for NotGrpc {}
