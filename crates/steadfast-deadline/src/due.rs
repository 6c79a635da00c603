//! By when must this request be answered?

use http::{Extensions, HeaderMap, header};
use steadfast_core::{CallContext, CallState, Deadline};

/// The earlier of the deadline that travels with the request and that of the request being served.
#[inline]
pub(crate) fn due(extensions: &Extensions) -> Deadline {
    let stated = CallState::of(extensions).map_or(Deadline::NONE, CallState::deadline);
    stated.earliest(CallContext::current_deadline())
}

/// Whether these are the headers of a gRPC message: `application/grpc`, perhaps with a suffix.
pub(crate) fn is_grpc(headers: &HeaderMap) -> bool {
    const GRPC: &[u8] = b"application/grpc";
    let Some(kind) = headers.get(header::CONTENT_TYPE) else {
        return false;
    };
    let (kind, rest) = kind.as_bytes().split_at(kind.len().min(GRPC.len()));
    // `application/grpc-web` too, which carries the same timeout.
    kind.eq_ignore_ascii_case(GRPC) && rest.first().is_none_or(|next| b"+;- \t".contains(next))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn grpc_is_told_by_its_content_type() {
        for (kind, want) in [
            (None, false),
            (Some("application/grpc"), true),
            (Some("Application/GRPC"), true),
            (Some("application/grpc+proto"), true),
            (Some("application/grpc;charset=utf-8"), true),
            (Some("application/grpc-web"), true),
            (Some("application/grpcx"), false),
            (Some("application/grp"), false),
            (Some("application/json"), false),
            (Some(""), false),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(kind) = kind {
                headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
            }
            assert_eq!(is_grpc(&headers), want, "{kind:?}");
        }
    }
}
