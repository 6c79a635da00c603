use std::fmt;

use http::{HeaderMap, HeaderName, header};

/// The headers that a replay carries: those that describe the representation, and no others.
///
/// By default content-type, content-language, content-encoding, location, content-location, etag,
/// last-modified and link. Never, whatever is added: cookies, challenges, dates, lengths,
/// hop-by-hop headers, hints and limits of the moment, ids of one exchange, CORS, caching. They
/// belong to one answer, not to the operation.
///
/// ```
/// use http::{HeaderName, header};
/// use steadfast_idempotency::server::ReplayedHeaders;
///
/// let headers = ReplayedHeaders::default().with(HeaderName::from_static("x-receipt"))?;
/// assert!(headers.contains(&header::LOCATION));
/// assert!(ReplayedHeaders::default().with(header::SET_COOKIE).is_err());
/// # Ok::<(), steadfast_idempotency::server::ForbiddenHeader>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplayedHeaders(Vec<HeaderName>);

/// Content-encoding belongs to the stored bytes: without it they could not be read.
const DEFAULT: [HeaderName; 8] = [
    header::CONTENT_TYPE,
    header::CONTENT_LANGUAGE,
    header::CONTENT_ENCODING,
    header::LOCATION,
    header::CONTENT_LOCATION,
    header::ETAG,
    header::LAST_MODIFIED,
    header::LINK,
];

const NEVER: [&str; 36] = [
    // Session and challenge.
    "set-cookie",
    "set-cookie2",
    "www-authenticate",
    "proxy-authenticate",
    "authentication-info",
    "proxy-authentication-info",
    "clear-site-data",
    // Recomputed for each message, or its connection's business (RFC 9110 7.6.1).
    "date",
    "content-length",
    "transfer-encoding",
    "connection",
    "proxy-connection",
    "keep-alive",
    "te",
    "trailer",
    "upgrade",
    "alt-svc",
    "server",
    "via",
    // The moment's limits and hints.
    "retry-after",
    "retry-after-ms",
    "x-retry-after",
    "x-should-retry",
    "stripe-should-retry",
    // Ids of one exchange.
    "request-id",
    "x-request-id",
    "x-correlation-id",
    "x-trace-id",
    "x-amzn-trace-id",
    "x-b3-traceid",
    "x-b3-spanid",
    "traceparent",
    "tracestate",
    "baggage",
    // Negotiated or cached per request.
    "vary",
    "age",
];

const NEVER_BY_PREFIX: [&str; 4] = [
    "access-control-",
    "ratelimit",
    "x-ratelimit",
    "x-rate-limit",
];

impl ReplayedHeaders {
    /// Adds a header.
    ///
    /// # Errors
    ///
    /// The header belongs to one answer and is never replayed.
    pub fn with(mut self, name: HeaderName) -> Result<Self, ForbiddenHeader> {
        let text = name.as_str();
        let by_prefix = NEVER_BY_PREFIX.iter().any(|start| text.starts_with(start));
        if by_prefix || NEVER.contains(&text) {
            return Err(ForbiddenHeader(name));
        }
        self.0.push(name);
        Ok(self)
    }

    /// Whether a replay carries this header.
    pub fn contains(&self, name: &HeaderName) -> bool {
        DEFAULT.contains(name) || self.0.contains(name)
    }

    /// What a replay carries of these headers, in their order.
    pub fn filter(&self, headers: &HeaderMap) -> HeaderMap {
        headers
            .iter()
            .filter(|(name, _)| self.contains(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }
}

/// A header that no replay may carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForbiddenHeader(HeaderName);

impl fmt::Display for ForbiddenHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.0;
        write!(
            f,
            "header {name:?} belongs to one answer: a replay never carries it"
        )
    }
}

impl std::error::Error for ForbiddenHeader {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_one_answer_cannot_be_added() {
        let names = NEVER.iter().copied().chain([
            "access-control-allow-origin",
            "ratelimit",
            "ratelimit-policy",
            "x-ratelimit-reset",
        ]);
        for name in names {
            let name = HeaderName::from_static(name);
            let error = ReplayedHeaders::default().with(name.clone()).unwrap_err();
            assert!(error.to_string().contains(name.as_str()), "{error}");
        }
    }

    #[test]
    fn repeated_headers_keep_their_order() {
        let mut headers = HeaderMap::new();
        for value in ["<a>", "<b>"] {
            headers.append(header::LINK, value.parse().unwrap());
        }
        headers.append(header::SET_COOKIE, "s=1".parse().unwrap());
        let kept = ReplayedHeaders::default().filter(&headers);
        assert_eq!(
            kept.get_all(header::LINK).iter().collect::<Vec<_>>(),
            ["<a>", "<b>"]
        );
        assert_eq!(kept.len(), 2);
    }
}
