use http::{HeaderMap, HeaderName, HeaderValue};

use crate::{OwnerMark, grpc};

/// `steadfast-attempt`: `n/max`, which attempt of its call a request is, from 1, and how many the
/// call may make at most. Its writer repeats the call, so that nobody further on has to, or no more
/// than it leaves: see [`OwnerMark`].
pub const STEADFAST_ATTEMPT: HeaderName = HeaderName::from_static("steadfast-attempt");

/// A header that tells which attempt of its call a request is.
///
/// ```
/// use http::{HeaderMap, HeaderValue};
/// use steadfast_core::AttemptHeader;
///
/// let mut headers = HeaderMap::new();
/// assert_eq!(AttemptHeader::Amz.read(&headers), None);
/// headers.insert("amz-sdk-request", HeaderValue::from_static("attempt=2; max=3"));
/// assert_eq!(AttemptHeader::Amz.read(&headers), Some(2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AttemptHeader {
    /// [`STEADFAST_ATTEMPT`].
    Steadfast,
    /// `x-envoy-attempt-count`: from 1, as Envoy writes it to upstreams
    /// (`include_request_attempt_count`).
    Envoy,
    /// `grpc-previous-rpc-attempts` (gRFC A6): attempts before this one; absent on the first.
    Grpc,
    /// `amz-sdk-request`: `attempt=N` among its parameters, from 1, as AWS's SDKs write it.
    Amz,
}

impl AttemptHeader {
    /// Every header, in the order of declaration.
    pub const ALL: [Self; 4] = [Self::Steadfast, Self::Envoy, Self::Grpc, Self::Amz];

    /// Which attempt the headers say this is, from 1; `None` where they do not, or say nothing
    /// that can be read.
    pub fn read(self, headers: &HeaderMap) -> Option<u32> {
        let number = match self {
            Self::Steadfast => OwnerMark::default().read(headers)?.attempt().number,
            Self::Envoy => text(headers, "x-envoy-attempt-count")?
                .trim()
                .parse()
                .ok()?,
            Self::Grpc => grpc::previous_attempts(headers)?.saturating_add(1),
            Self::Amz => amz(text(headers, "amz-sdk-request")?)?,
        };
        (number > 0).then_some(number)
    }
}

fn text(headers: &HeaderMap, name: impl http::header::AsHeaderName) -> Option<&str> {
    headers.get(name).map(HeaderValue::to_str)?.ok()
}

/// `attempt=1; max=3`, in any order, also with `ttl`.
fn amz(text: &str) -> Option<u32> {
    text.split(';').find_map(|parameter| {
        let (name, number) = parameter.split_once('=')?;
        let is_attempt = name.trim().eq_ignore_ascii_case("attempt");
        is_attempt.then(|| number.trim().parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(header: AttemptHeader, name: &'static str, value: &'static str) -> Option<u32> {
        let mut headers = HeaderMap::new();
        headers.insert(name, HeaderValue::from_static(value));
        header.read(&headers)
    }

    #[test]
    fn each_header_is_read_in_its_own_counting() {
        use AttemptHeader::{Amz, Envoy, Grpc, Steadfast};
        for (header, name, value, number) in [
            (Steadfast, "steadfast-attempt", "2/3", Some(2)),
            (Steadfast, "steadfast-attempt", "3/3", Some(3)),
            (
                Steadfast,
                "steadfast-attempt",
                "3/4;left=2;share=50",
                Some(3),
            ),
            (Steadfast, "steadfast-attempt", "4/3", None),
            (Steadfast, "steadfast-attempt", "0/3", None),
            (Steadfast, "steadfast-attempt", "+1/3", None),
            (Steadfast, "steadfast-attempt", "1/99999999999", None),
            (Steadfast, "steadfast-attempt", "2", None),
            (Envoy, "x-envoy-attempt-count", "1", Some(1)),
            (Envoy, "x-envoy-attempt-count", " 2 ", Some(2)),
            (Envoy, "x-envoy-attempt-count", "0", None),
            (Envoy, "x-envoy-attempt-count", "x", None),
            (Grpc, "grpc-previous-rpc-attempts", "1", Some(2)),
            (Grpc, "grpc-previous-rpc-attempts", "-1", None),
            (
                Amz,
                "amz-sdk-request",
                "ttl=20260101T000000Z; attempt=3; max=3",
                Some(3),
            ),
            (Amz, "amz-sdk-request", "max=3", None),
        ] {
            assert_eq!(read(header, name, value), number, "{name}: {value}");
        }
    }
}
