use http::request::Parts;
use http::{Uri, header};
use sha2::{Digest, Sha256};

/// What a repeat has to equal: a digest over the parts of a request that make it the same one.
///
/// The default is [`of_request`](Self::of_request): exact bytes. A reordered JSON object is
/// another payload, because only the application knows which differences do not matter; it can
/// say so with its own function over a [`FingerprintHasher`].
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
