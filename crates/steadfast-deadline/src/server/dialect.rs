use bytes::{BufMut, Bytes, BytesMut};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use http_body::Frame;
use steadfast_core::grpc::{self, Code, Transport};

use super::body::ResponseBody;

/// Where the problem types are described: the start of every `type`.
pub const PROBLEM_BASE: &str = "https://docs.rs/steadfast-deadline/latest/steadfast_deadline/#";

/// The problem's `code` where the time was over on arrival: the handler was never called.
pub const CODE_EXPIRED: &str = "deadline-expired";

/// The problem's `code` where the time ended under the handler: what it did is not known.
pub const CODE_EXCEEDED: &str = "deadline-exceeded";

const GRPC_MESSAGE: HeaderName = HeaderName::from_static("grpc-message");

/// In which words a caller is told that the time is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// 504 with problem details (RFC 9457).
    Http,
    /// 200 with DEADLINE_EXCEEDED in the headers ("trailers-only", gRPC over HTTP/2).
    Grpc,
    /// The same for gRPC-Web.
    GrpcWeb,
}

impl Dialect {
    /// By the request's media type.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        match Transport::of(headers) {
            None => Self::Http,
            Some(Transport::Http2) => Self::Grpc,
            Some(Transport::Web) => Self::GrpcWeb,
        }
    }

    pub(crate) const fn is_grpc(self) -> bool {
        matches!(self, Self::Grpc | Self::GrpcWeb)
    }

    /// The answer to a request whose time was over on arrival.
    pub(crate) fn expired<R>(self) -> Response<ResponseBody<R>> {
        const BODY: &str = concat!(
            r#"{"type":"https://docs.rs/steadfast-deadline/latest/steadfast_deadline/"#,
            r##"#deadline-expired","title":"Deadline expired","status":504,"##,
            r#""detail":"the caller's time was over before the handler began; "#,
            r#"nothing was done","code":"deadline-expired"}"#,
        );
        self.answer(BODY, "the deadline had passed on arrival; nothing was done")
    }

    /// The answer to a request whose time ended under its handler.
    pub(crate) fn exceeded<R>(self) -> Response<ResponseBody<R>> {
        const BODY: &str = concat!(
            r#"{"type":"https://docs.rs/steadfast-deadline/latest/steadfast_deadline/"#,
            r##"#deadline-exceeded","title":"Deadline exceeded","status":504,"##,
            r#""detail":"the caller's time ended before the handler had answered; "#,
            r#"what it did is not known","code":"deadline-exceeded"}"#,
        );
        self.answer(BODY, EXCEEDED)
    }

    fn answer<R>(self, body: &'static str, message: &'static str) -> Response<ResponseBody<R>> {
        let media = match self {
            Self::Http => "application/problem+json",
            Self::Grpc => "application/grpc",
            Self::GrpcWeb => "application/grpc-web+proto",
        };
        let mut response = Response::new(ResponseBody::full(match self {
            Self::Http => Bytes::from_static(body.as_bytes()),
            Self::Grpc | Self::GrpcWeb => Bytes::new(),
        }));
        if self.is_grpc() {
            *response.headers_mut() = status(message);
        } else {
            *response.status_mut() = StatusCode::GATEWAY_TIMEOUT;
        }
        let media = HeaderValue::from_static(media);
        response.headers_mut().insert(header::CONTENT_TYPE, media);
        response
    }
}

const EXCEEDED: &str = "the deadline passed before the handler had answered";

/// How a stream says that its time is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LastWords {
    /// Trailers, as gRPC over HTTP/2 has them.
    Trailers,
    /// gRPC-Web's: a frame of data that begins with its flag, since browsers read no trailers.
    Data,
}

impl LastWords {
    /// Of an answer with these headers. `None` where there are no such words: no gRPC, or
    /// gRPC-Web in base64, which may be cut in the middle of a group.
    pub(crate) fn of(dialect: Dialect, answer: &HeaderMap) -> Option<Self> {
        match dialect {
            Dialect::Http => None,
            Dialect::Grpc => Some(Self::Trailers),
            Dialect::GrpcWeb => (!is_text(answer)).then_some(Self::Data),
        }
    }

    pub(crate) fn frame(self) -> Frame<Bytes> {
        match self {
            Self::Trailers => Frame::trailers(status(EXCEEDED)),
            Self::Data => Frame::data(web_trailers(&status(EXCEEDED))),
        }
    }
}

fn is_text(answer: &HeaderMap) -> bool {
    const TEXT: &[u8] = b"application/grpc-web-text";
    answer
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.as_bytes().get(..TEXT.len()))
        .is_some_and(|kind| kind.eq_ignore_ascii_case(TEXT))
}

/// The flag of trailers, the length of what follows in 4 bytes, then lines as HTTP/1 writes them
/// (gRPC-Web, "Protocol differences vs gRPC over HTTP2").
fn web_trailers(trailers: &HeaderMap) -> Bytes {
    const TRAILERS: u8 = 0x80;
    let mut frame = BytesMut::new();
    frame.put_u8(TRAILERS);
    frame.put_u32(0);
    for (name, value) in trailers {
        for part in [name.as_str().as_bytes(), b":", value.as_bytes(), b"\r\n"] {
            frame.put_slice(part);
        }
    }
    let lines = (frame.len() - 5) as u32;
    frame[1..5].copy_from_slice(&lines.to_be_bytes());
    frame.freeze()
}

/// The message has neither `%` nor anything beyond ASCII, so it needs no percent-encoding.
fn status(message: &'static str) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(3);
    let code = u16::from(Code::DeadlineExceeded.number());
    headers.insert(grpc::STATUS, HeaderValue::from(code));
    headers.insert(GRPC_MESSAGE, HeaderValue::from_static(message));
    headers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_leads_to_a_place_on_the_front_page() {
        let readme = include_str!("../../README.md");
        for code in [CODE_EXPIRED, CODE_EXCEEDED] {
            let place = format!("504 <a id=\"{code}\"></a>`{code}`");
            assert!(readme.contains(&place), "{place}");
        }
    }

    #[test]
    fn the_media_type_chooses_the_words() {
        for (media, want) in [
            ("application/grpc", Dialect::Grpc),
            ("application/grpc+proto", Dialect::Grpc),
            ("Application/GRPC; charset=x", Dialect::Grpc),
            ("application/grpc-web-text", Dialect::GrpcWeb),
            ("application/grpcish", Dialect::Http),
            ("application/json", Dialect::Http),
            ("", Dialect::Http),
        ] {
            let mut headers = HeaderMap::new();
            assert_eq!(Dialect::of(&headers), Dialect::Http);
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
            assert_eq!(Dialect::of(&headers), want, "{media}");
        }
    }
}
