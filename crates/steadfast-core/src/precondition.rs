use http::{HeaderMap, HeaderName, HeaderValue, Uri, header};

/// What makes a peer refuse a request whose first sending took effect: names of headers and of
/// query parameters.
///
/// Always known are those of RFC 9110 §13.1: `If-Match`, `If-Unmodified-Since`, and
/// `If-None-Match: *` ("create, never replace"; with an entity tag it guards reads of caches).
/// Peers with names of their own are declared by a [`RouteRule`](crate::RouteRule).
///
/// ```
/// use http::{HeaderMap, Uri};
/// use steadfast_core::Preconditions;
///
/// let storage = Preconditions::google_cloud_storage();
/// let guarded = Uri::from_static("https://storage.example/upload?name=a&ifGenerationMatch=0");
/// assert!(storage.hold_for(&guarded, &HeaderMap::new()));
/// assert!(!Preconditions::default().hold_for(&guarded, &HeaderMap::new()));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preconditions {
    headers: Vec<HeaderName>,
    queries: Vec<Box<str>>,
}

impl Preconditions {
    /// Those of RFC 9110 only.
    pub const fn new() -> Self {
        Self {
            headers: Vec::new(),
            queries: Vec::new(),
        }
    }

    /// The generation and metageneration preconditions of Google Cloud Storage, as query
    /// parameters of its JSON API and as headers of its XML API.
    pub fn google_cloud_storage() -> Self {
        Self::new()
            .with_query("ifGenerationMatch")
            .with_query("ifMetagenerationMatch")
            .with_header(HeaderName::from_static("x-goog-if-generation-match"))
            .with_header(HeaderName::from_static("x-goog-if-metageneration-match"))
    }

    /// Adds a header that is a precondition, whatever its value.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName) -> Self {
        self.headers.push(name);
        self
    }

    /// Adds a query parameter that is a precondition, whatever its value. Compared as written,
    /// without decoding.
    #[must_use]
    pub fn with_query(mut self, name: impl Into<Box<str>>) -> Self {
        self.queries.push(name.into());
        self
    }

    /// Whether a request carries one.
    pub fn hold_for(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        standard(headers)
            || self.headers.iter().any(|name| headers.contains_key(name))
            || self.queries.iter().any(|name| has_query(uri, name))
    }
}

fn standard(headers: &HeaderMap) -> bool {
    let star = |value: &HeaderValue| value.as_bytes() == b"*";
    headers.contains_key(header::IF_MATCH)
        || headers.contains_key(header::IF_UNMODIFIED_SINCE)
        || headers.get(header::IF_NONE_MATCH).is_some_and(star)
}

fn has_query(uri: &Uri, name: &str) -> bool {
    let pairs = uri.query().unwrap_or_default().split('&');
    pairs
        .filter_map(|pair| pair.split_once('='))
        .any(|(key, _)| key == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_preconditions_that_stop_a_second_effect_count() {
        let plain = Uri::from_static("http://a.example/b");
        for (name, value, standard, storage) in [
            ("if-match", "\"v1\"", true, true),
            ("if-none-match", "*", true, true),
            ("if-none-match", "\"v1\"", false, false),
            (
                "if-unmodified-since",
                "Wed, 21 Oct 2015 07:28:00 GMT",
                true,
                true,
            ),
            (
                "if-modified-since",
                "Wed, 21 Oct 2015 07:28:00 GMT",
                false,
                false,
            ),
            ("idempotency-key", "\"k1\"", false, false),
            ("x-goog-if-generation-match", "0", false, true),
            ("x-goog-if-metageneration-match", "3", false, true),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(name, HeaderValue::from_static(value));
            let by = |preconditions: Preconditions| preconditions.hold_for(&plain, &headers);
            assert_eq!(by(Preconditions::new()), standard, "{name}: {value}");
            assert_eq!(
                by(Preconditions::google_cloud_storage()),
                storage,
                "{name}: {value}"
            );
        }
    }

    #[test]
    fn query_names_are_compared_whole() {
        let storage = Preconditions::google_cloud_storage();
        for (uri, want) in [
            ("/b/o?ifGenerationMatch=1", true),
            ("/b/o?a=1&ifMetagenerationMatch=2&b", true),
            ("/b/o?ifGenerationMatch", false),
            ("/b/o?notIfGenerationMatch=1", false),
            ("/b/o?ifgenerationmatch=1", false),
            ("/b/o?x=ifGenerationMatch=1", false),
            ("/ifGenerationMatch=1", false),
            ("/b/o", false),
        ] {
            let uri = Uri::from_static(uri);
            assert_eq!(storage.hold_for(&uri, &HeaderMap::new()), want, "{uri}");
        }
    }
}
