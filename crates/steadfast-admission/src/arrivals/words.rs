//! "Overloaded, do not retry", in the caller's protocol.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use steadfast_core::grpc::{self, Code, Transport};

static SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");
static GRPC_MESSAGE: HeaderName = HeaderName::from_static("grpc-message");

const PROBLEM: &[u8] = br#"{"title":"Too many retries","status":503,"detail":"The server is overloaded by repeated requests: do not retry this one."}"#;

/// Which words a caller understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Http,
    Grpc,
}

impl Dialect {
    pub(super) fn of(request: &HeaderMap) -> Self {
        match Transport::of(request) {
            Some(Transport::Http2) => Self::Grpc,
            _ => Self::Http,
        }
    }

    /// 503 with `x-should-retry: false` and a problem document (RFC 9457); of gRPC a trailers-only
    /// UNAVAILABLE with negative pushback (gRFC A6).
    pub(super) fn refusal(self) -> Response<Bytes> {
        let mut response = Response::new(Bytes::new());
        let headers = response.headers_mut();
        match self {
            Self::Http => {
                let problem = HeaderValue::from_static("application/problem+json");
                headers.insert(header::CONTENT_TYPE, problem);
                headers.insert(&SHOULD_RETRY, HeaderValue::from_static("false"));
                *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
                *response.body_mut() = Bytes::from_static(PROBLEM);
            }
            Self::Grpc => {
                let grpc_type = HeaderValue::from_static("application/grpc");
                headers.insert(header::CONTENT_TYPE, grpc_type);
                headers.insert(grpc::STATUS, u16::from(Code::Unavailable.number()).into());
                headers.insert(
                    &GRPC_MESSAGE,
                    HeaderValue::from_static("overloaded by retries: do not retry"),
                );
                headers.insert(grpc::RETRY_PUSHBACK, HeaderValue::from_static("-1"));
            }
        }
        response
    }
}
