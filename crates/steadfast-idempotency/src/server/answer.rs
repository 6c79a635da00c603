use std::fmt;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};

/// What every repeat of an operation is answered with.
///
/// Consumers that speak no HTTP keep what they need in the body; the status is 200 for them.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The headers that a replay may carry.
    pub headers: HeaderMap,
    /// The whole body.
    pub body: Bytes,
    /// Method and path of the first request, for people who read the table.
    pub origin: Option<(Method, String)>,
}

impl Answer {
    /// An answer without headers.
    pub fn new(status: StatusCode, body: impl Into<Bytes>) -> Self {
        Self {
            status,
            headers: HeaderMap::new(),
            body: body.into(),
            origin: None,
        }
    }

    /// Sets the headers; see [`ReplayedHeaders::filter`](super::ReplayedHeaders::filter).
    #[must_use]
    pub fn with_headers(mut self, headers: HeaderMap) -> Self {
        self.headers = headers;
        self
    }

    /// Sets what is shown of the first request.
    #[must_use]
    pub fn with_origin(mut self, method: Method, path: impl Into<String>) -> Self {
        self.origin = Some((method, path.into()));
        self
    }

    /// The headers as HTTP/1.1 field lines, a form that a store can keep and people can read.
    pub fn encode_headers(&self) -> Vec<u8> {
        let mut lines = Vec::new();
        for (name, value) in &self.headers {
            lines.extend_from_slice(name.as_str().as_bytes());
            lines.extend_from_slice(b": ");
            lines.extend_from_slice(value.as_bytes());
            lines.extend_from_slice(b"\r\n");
        }
        lines
    }

    /// Reads what [`encode_headers`](Self::encode_headers) wrote.
    ///
    /// # Errors
    ///
    /// The first line that is none.
    pub fn decode_headers(mut lines: &[u8]) -> Result<HeaderMap, CorruptHeaders> {
        let mut headers = HeaderMap::new();
        while !lines.is_empty() {
            // Neither a name nor a value can hold CR or LF, nor a name a colon.
            let line = lines.windows(2).position(|pair| pair == b"\r\n");
            let line = line.ok_or_else(|| CorruptHeaders::at(lines))?;
            let (line, rest) = (&lines[..line], &lines[line + 2..]);
            let colon = line.windows(2).position(|pair| pair == b": ");
            let colon = colon.ok_or_else(|| CorruptHeaders::at(line))?;
            let name = HeaderName::from_bytes(&line[..colon]);
            let value = HeaderValue::from_bytes(&line[colon + 2..]);
            match (name, value) {
                (Ok(name), Ok(value)) => headers.append(name, value),
                _ => return Err(CorruptHeaders::at(line)),
            };
            lines = rest;
        }
        Ok(headers)
    }
}

/// Headers and bodies may hold secrets: only their sizes are shown.
impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer")
            .field("status", &self.status)
            .field("headers", &self.headers.len())
            .field("body", &self.body.len())
            .finish_non_exhaustive()
    }
}

/// Stored headers that cannot be read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorruptHeaders {
    /// Its length alone: what it says is nobody else's business.
    bytes: usize,
}

impl CorruptHeaders {
    fn at(line: &[u8]) -> Self {
        Self { bytes: line.len() }
    }
}

impl fmt::Display for CorruptHeaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a stored header line of {} bytes is not `name: value`",
            self.bytes
        )
    }
}

impl std::error::Error for CorruptHeaders {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_come_back_as_they_were() {
        let mut headers = HeaderMap::new();
        headers.append("link", HeaderValue::from_static("<a>; rel=next"));
        headers.append("link", HeaderValue::from_static("<b>: odd"));
        headers.append("etag", HeaderValue::from_static(""));
        headers.append("x-bytes", HeaderValue::from_bytes(b"caf\xe9\t!").unwrap());
        let answer = Answer::new(StatusCode::OK, "").with_headers(headers.clone());
        let read = Answer::decode_headers(&answer.encode_headers()).unwrap();
        assert_eq!(read, headers);
        assert_eq!(Answer::decode_headers(b"").unwrap(), HeaderMap::new());
    }

    #[test]
    fn corrupt_headers_are_an_error_that_tells_no_value() {
        for bytes in ["etag: 1", "etag\r\n", "e tag: 1\r\n", "a: 1\r\n: 2\r\n"] {
            assert!(Answer::decode_headers(bytes.as_bytes()).is_err(), "{bytes}");
        }
        let error = Answer::decode_headers(b"a: 1\r\netag\r\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "a stored header line of 4 bytes is not `name: value`"
        );
    }
}
