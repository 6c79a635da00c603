use http::request::Parts;
use http::{Uri, header};
use sha2::{Digest, Sha256};

use super::json::Json;

/// What a repeat has to equal: a digest over the parts of a request that make it the same one.
///
/// The default is [`of_request`](Self::of_request): exact bytes. A reordered JSON object is
/// another payload, because only the application knows which differences do not matter. It can
/// say so: with [`of_json`](Self::of_json), with [`of_json_fields`](Self::of_json_fields), or with
/// its own function over a [`FingerprintHasher`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint {
    algorithm: u8,
    digest: [u8; 32],
}

impl Fingerprint {
    /// The algorithm tag of [`FingerprintHasher`]: SHA-256 over length-framed fields.
    pub const SHA_256: u8 = 1;

    /// A digest made elsewhere; digests of different algorithms never equal each other.
    pub const fn new(algorithm: u8, digest: [u8; 32]) -> Self {
        Self { algorithm, digest }
    }

    /// Method, target, content type and body, byte for byte.
    ///
    /// Of the target only path and query count: the same request has an authority in its target
    /// over HTTP/2 and none over HTTP/1.1. Headers other than the content type differ between
    /// honest repeats (dates, trace ids, renewed tokens) and stay out.
    pub fn of_request(parts: &Parts, target: &Uri, body: &[u8]) -> Self {
        let content_type = parts.headers.get(header::CONTENT_TYPE);
        FingerprintHasher::new("request")
            .field(parts.method.as_str())
            .field(target.path())
            .optional(target.query())
            .optional(content_type.map(|value| value.as_bytes()))
            .field(body)
            .finish()
    }

    /// As [`of_request`](Self::of_request), but of a JSON body the order of members, blanks and
    /// the spelling of strings do not count. The order of arrays does, and so does each number as
    /// it was written: `1` and `1.0` differ.
    ///
    /// A body that is no JSON, is nested deeper than 128, or has a member twice counts byte by
    /// byte. The content type counts as ever.
    ///
    /// ```
    /// use steadfast_idempotency::server::{Fingerprint, IdempotencyConfig};
    ///
    /// let config = IdempotencyConfig::new(|_| Some("the only caller"))
    ///     .with_fingerprint(Fingerprint::of_json);
    /// ```
    pub fn of_json(parts: &Parts, target: &Uri, body: &[u8]) -> Self {
        Self::of_json_fields(parts, target, body, &[""])
    }

    /// As [`of_json`](Self::of_json), of the values at these JSON Pointers (RFC 6901) alone: what
    /// else the body holds may differ between repeats. A value that is absent differs from `null`.
    ///
    /// ```
    /// use steadfast_idempotency::server::{Fingerprint, IdempotencyConfig};
    ///
    /// // Not `/sent_at`, which clients renew.
    /// let matter = ["/amount", "/currency", "/order/id"];
    /// let config = IdempotencyConfig::new(|_| Some("the only caller"))
    ///     .with_fingerprint(move |parts, target, body| {
    ///         Fingerprint::of_json_fields(parts, target, body, &matter)
    ///     });
    /// ```
    pub fn of_json_fields(parts: &Parts, target: &Uri, body: &[u8], pointers: &[&str]) -> Self {
        let Some(json) = Json::parse(body) else {
            return Self::of_request(parts, target, body);
        };
        let content_type = parts.headers.get(header::CONTENT_TYPE);
        let hasher = FingerprintHasher::new("json")
            .field(parts.method.as_str())
            .field(target.path())
            .optional(target.query())
            .optional(content_type.map(|value| value.as_bytes()));
        let fed = |pointer: &&str| {
            let mut bytes = Vec::new();
            json.at(pointer)?.feed(&mut bytes);
            Some(bytes)
        };
        let fields = pointers.iter();
        fields
            .fold(hasher, |hasher, pointer| {
                hasher.field(pointer).optional(fed(pointer))
            })
            .finish()
    }

    /// The tag of the algorithm that made the digest.
    pub const fn algorithm(&self) -> u8 {
        self.algorithm
    }

    /// The digest itself.
    pub const fn digest(&self) -> &[u8; 32] {
        &self.digest
    }
}

/// Builds a [`Fingerprint`] from fields, each framed by its length.
///
/// The frames keep (`ab`, `c`) apart from (`a`, `bc`).
///
/// ```
/// use steadfast_idempotency::server::FingerprintHasher;
///
/// let one = FingerprintHasher::new("transfer").field("ab").field("c").finish();
/// let other = FingerprintHasher::new("transfer").field("a").field("bc").finish();
/// assert_ne!(one, other);
/// ```
#[derive(Clone, Debug)]
#[must_use = "a hasher does nothing until it is finished"]
pub struct FingerprintHasher(Sha256);

impl FingerprintHasher {
    /// Starts a digest; different tags never produce the same one.
    pub fn new(tag: &str) -> Self {
        Self(Sha256::new()).field(tag)
    }

    /// Adds a field.
    pub fn field(mut self, bytes: impl AsRef<[u8]>) -> Self {
        let bytes = bytes.as_ref();
        self.0.update([1]);
        self.0.update((bytes.len() as u64).to_be_bytes());
        self.0.update(bytes);
        self
    }

    /// Adds a field that may be absent; absent differs from empty.
    pub fn optional(mut self, bytes: Option<impl AsRef<[u8]>>) -> Self {
        match bytes {
            Some(bytes) => self.field(bytes),
            None => {
                self.0.update([0]);
                self
            }
        }
    }

    /// The digest.
    pub fn finish(self) -> Fingerprint {
        Fingerprint::new(Fingerprint::SHA_256, self.0.finalize().into())
    }
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn of(method: &str, target: &str, content_type: Option<&str>, body: &str) -> Fingerprint {
        let mut request = Request::builder().method(method).uri(target);
        if let Some(value) = content_type {
            request = request.header(header::CONTENT_TYPE, value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        Fingerprint::of_request(&parts, &parts.uri, body.as_bytes())
    }

    #[test]
    fn each_part_of_the_request_counts() {
        let json = Some("application/json");
        let all = [
            of("POST", "/a", json, "1"),
            of("PATCH", "/a", json, "1"),
            of("POST", "/b", json, "1"),
            of("POST", "/a?", json, "1"),
            of("POST", "/a?q", json, "1"),
            of("POST", "/a", None, "1"),
            of("POST", "/a", Some(""), "1"),
            of("POST", "/a", json, "\"1\""),
            of("POST", "/a", json, ""),
        ];
        for (at, one) in all.iter().enumerate() {
            assert_eq!(all.iter().filter(|other| *other == one).count(), 1, "{at}");
        }
    }

    #[test]
    fn the_authority_of_the_target_does_not_count() {
        let absolute = of("POST", "https://pay.example/a?q=1", None, "x");
        assert_eq!(absolute, of("POST", "/a?q=1", None, "x"));
    }

    fn json(body: &str) -> Fingerprint {
        let (parts, ()) = Request::post("/a").body(()).unwrap().into_parts();
        Fingerprint::of_json(&parts, &parts.uri, body.as_bytes())
    }

    #[test]
    fn as_json_order_of_members_blanks_and_escapes_do_not_count() {
        let base = json(r#"{"a":1,"b":{"c":"\u00e4/","d":[1,2]}}"#);
        for same in [
            r#"{"b":{"d":[1,2],"c":"ä/"},"a":1}"#,
            "{ \"a\" : 1,\n\t\"b\": {\"c\":\"ä\\/\", \"d\":[ 1 , 2 ]}}\r\n",
            r#"{"\u0061":1,"b":{"c":"ä/","d":[1,2]}}"#,
        ] {
            assert_eq!(json(same), base, "{same}");
        }
    }

    #[test]
    fn as_json_everything_else_counts() {
        let all = [
            r#"{"a":1,"b":2}"#,
            r#"{"a":2,"b":1}"#,
            r#"{"a":1,"b":"2"}"#,
            r#"{"a":1,"b":2.0}"#,
            r#"{"a":1,"b":[2]}"#,
            r#"{"a":1,"b":null}"#,
            r#"{"a":1}"#,
            r#"{"a":1,"b":2,"c":3}"#,
            r#"{"a":{"b":2}}"#,
            "[1,2]",
            "[2,1]",
            "[12]",
            "[1,[2]]",
            r#"["1,2"]"#,
            r#"["1","2"]"#,
            "1",
            "\"1\"",
            "12345678901234567.01",
            "12345678901234567.02",
            "true",
            "null",
            "{}",
            "[]",
            "",
            // Not JSON, or not one meaning.
            "{",
            r#"{"a":1,"a":2}"#,
            r#"{"a":2,"a":1}"#,
            "1 2",
        ];
        for (at, one) in all.iter().enumerate() {
            let same = all.iter().filter(|other| json(other) == json(one));
            assert_eq!(same.count(), 1, "{at}: {one}");
        }
    }

    #[test]
    fn deep_and_broken_json_is_compared_byte_by_byte() {
        let deep = |blank: &str| format!("{}{blank}{}", "[".repeat(200), "]".repeat(200));
        assert_ne!(json(&deep("")), json(&deep(" ")));
        assert_eq!(json(&deep("")), json(&deep("")));
        let long = "[".repeat(100_000);
        assert_eq!(json(&long), json(&long));
        assert_eq!(json(r#""\ud800""#), json(r#""\ud800""#));
    }

    #[test]
    fn of_fields_only_those_that_matter_count() {
        let (parts, ()) = Request::post("/a").body(()).unwrap().into_parts();
        let of = |body: &str| {
            let pointers = ["/amount", "/order/lines/0", "/a~1b"];
            Fingerprint::of_json_fields(&parts, &parts.uri, body.as_bytes(), &pointers)
        };
        let base = of(r#"{"amount":1,"order":{"lines":[5,6]},"a/b":7,"sent_at":1}"#);
        for same in [
            r#"{"sent_at":2,"a/b":7,"amount":1,"order":{"lines":[5]}}"#,
            r#"{"a/b":7,"amount":1,"order":{"id":9,"lines":[5]}}"#,
        ] {
            assert_eq!(of(same), base, "{same}");
        }
        for other in [
            r#"{"amount":2,"order":{"lines":[5,6]},"a/b":7}"#,
            r#"{"amount":1,"order":{"lines":[6,5]},"a/b":7}"#,
            r#"{"amount":1,"order":{"lines":[5]},"a/b":null}"#,
            r#"{"amount":1,"order":{"lines":[5]}}"#,
            r#"{"order":{"lines":[5]},"a/b":7}"#,
        ] {
            assert_ne!(of(other), base, "{other}");
        }
    }

    #[test]
    fn equal_means_equal_bytes() {
        let base = of("POST", "/a", None, r#"{"a":1,"b":2}"#);
        assert_eq!(base, of("POST", "/a", None, r#"{"a":1,"b":2}"#));
        for other in [r#"{"b":2,"a":1}"#, r#"{"a": 1, "b": 2}"#] {
            assert_ne!(base, of("POST", "/a", None, other));
        }
        assert_ne!(
            of("POST", "/a", None, "[1,2]"),
            of("POST", "/a", None, "[2,1]")
        );
        assert_ne!(of("POST", "/a", None, "1"), of("POST", "/a", None, "\"1\""));
    }
}
