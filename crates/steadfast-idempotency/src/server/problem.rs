use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use serde_json::json;

use super::engine::Refused;

/// Where the problem types are described: the start of every `type` unless configured.
pub const PROBLEM_BASE: &str =
    "https://docs.rs/steadfast-idempotency/latest/steadfast_idempotency/#";

/// An answer of the layer itself, as RFC 9457 problem details.
///
/// The body has `type` (base + code), `title`, `status`, `detail` and `code`. Clients tell the
/// layer's 409 and 422 from the application's own by `code`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    code: Code,
    detail: String,
}

/// Which problem it is. The texts are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    /// 400: the route requires a key and the request has none.
    KeyMissing,
    /// 400: the key header is there and is not one key.
    KeyMalformed,
    /// 403: the request belongs to no caller.
    ScopeMissing,
    /// 400: the request body broke off.
    BodyUnreadable,
    /// 408: the request body came too slowly.
    BodyTimeout,
    /// 413: the request body is over the limit.
    BodyTooLarge,
    /// 422: the key was used for another request.
    KeyReused,
    /// 409 with Retry-After: the same request is running.
    InProgress,
    /// 503 with Retry-After: the store failed; nothing is committed or a repeat will show it.
    StoreUnavailable,
    /// 503 with Retry-After: the handler took too long and was rolled back.
    WorkLimitExceeded,
    /// 503 with Retry-After: the server is going down; the handler was rolled back.
    Interrupted,
    /// 500: the handler panicked and was rolled back.
    HandlerPanicked,
    /// 500: the answer is over the limit; the effect was rolled back.
    ResponseTooLarge,
    /// 500: the answer's body failed; the effect was rolled back.
    ResponseBodyFailed,
    /// 500: the answer has trailers, which are not stored; the effect was rolled back.
    ResponseTrailers,
    /// 500: the answer is informational or an upgrade; the effect was rolled back.
    UpgradeRefused,
    /// 500: the handler kept its transaction; the effect was rolled back.
    TransactionNotReturned,
    /// 500: the handler succeeded without its transaction, so its writes are elsewhere.
    TransactionNotUsed,
    /// 500: the handler ended its transaction; its effect may be committed without a record.
    TransactionEnded,
}

impl Code {
    /// The text of the `code` member and the end of `type`.
    pub const fn as_str(self) -> &'static str {
        self.row().0
    }

    /// The status it is answered with.
    pub const fn status(self) -> StatusCode {
        self.row().1
    }

    /// What `Retry-After` says, in seconds.
    pub const fn retry_after(self) -> Option<u64> {
        match self {
            Self::InProgress
            | Self::StoreUnavailable
            | Self::WorkLimitExceeded
            | Self::Interrupted => Some(1),
            _ => None,
        }
    }

    const fn title(self) -> &'static str {
        self.row().2
    }

    const fn row(self) -> (&'static str, StatusCode, &'static str) {
        use StatusCode as S;
        const BROKEN: StatusCode = StatusCode::INTERNAL_SERVER_ERROR;
        const LATER: StatusCode = StatusCode::SERVICE_UNAVAILABLE;
        match self {
            Self::KeyMissing => ("key-missing", S::BAD_REQUEST, "Idempotency key missing"),
            Self::KeyMalformed => ("key-malformed", S::BAD_REQUEST, "Idempotency key malformed"),
            Self::ScopeMissing => ("scope-missing", S::FORBIDDEN, "Caller unknown"),
            Self::BodyUnreadable => ("body-unreadable", S::BAD_REQUEST, "Body unreadable"),
            Self::BodyTimeout => ("body-timeout", S::REQUEST_TIMEOUT, "Body too slow"),
            Self::BodyTooLarge => ("body-too-large", S::PAYLOAD_TOO_LARGE, "Body too large"),
            Self::KeyReused => (
                "key-reused",
                S::UNPROCESSABLE_ENTITY,
                "Idempotency key reused",
            ),
            Self::InProgress => ("in-progress", S::CONFLICT, "Request in progress"),
            Self::StoreUnavailable => ("store-unavailable", LATER, "Store unavailable"),
            Self::WorkLimitExceeded => ("work-limit-exceeded", LATER, "Handler too slow"),
            Self::Interrupted => ("interrupted", LATER, "Server going down"),
            Self::HandlerPanicked => ("handler-panicked", BROKEN, "Handler panicked"),
            Self::ResponseTooLarge => ("response-too-large", BROKEN, "Response too large"),
            Self::ResponseBodyFailed => ("response-body-failed", BROKEN, "Response body failed"),
            Self::ResponseTrailers => ("response-trailers", BROKEN, "Response has trailers"),
            Self::UpgradeRefused => ("upgrade-refused", BROKEN, "Upgrade refused"),
            Self::TransactionNotReturned => (
                "transaction-not-returned",
                BROKEN,
                "Transaction not returned",
            ),
            Self::TransactionNotUsed => ("transaction-not-used", BROKEN, "Transaction not used"),
            Self::TransactionEnded => ("transaction-ended", BROKEN, "Transaction ended"),
        }
    }
}

impl Problem {
    /// A problem; `detail` names the value and the rule.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        let detail = detail.into();
        Self { code, detail }
    }

    /// Which problem it is.
    pub const fn code(&self) -> Code {
        self.code
    }

    /// This occurrence, for people.
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// The response; its `type` is `base` followed by the code.
    pub fn into_response(self, base: &str) -> Response<Bytes> {
        let code = self.code;
        let body = json!({
            "type": format!("{base}{}", code.as_str()),
            "title": code.title(),
            "status": code.status().as_u16(),
            "detail": self.detail,
            "code": code.as_str(),
        });
        let mut response = Response::new(Bytes::from(body.to_string()));
        *response.status_mut() = code.status();
        let headers = response.headers_mut();
        let json = HeaderValue::from_static("application/problem+json");
        headers.insert(header::CONTENT_TYPE, json);
        if let Some(seconds) = code.retry_after() {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl From<Refused> for Problem {
    fn from(refused: Refused) -> Self {
        const AGAIN: &str = "repeat the request with the same key";
        match refused {
            Refused::InProgress => Self::new(
                Code::InProgress,
                format!("the request with this key is running: {AGAIN}"),
            ),
            Refused::KeyReused => Self::new(
                Code::KeyReused,
                "this key was used for another request: method, target, content type and body \
                 must equal the first one's, and a new operation needs a new key",
            ),
            // The store's own words stay inside: they may name hosts, files and statements.
            Refused::StoreUnavailable(_) => Self::new(
                Code::StoreUnavailable,
                format!("the idempotency store did not do its part: {AGAIN}"),
            ),
            Refused::WorkLimit(limit) => Self::new(
                Code::WorkLimitExceeded,
                format!("the handler took longer than {limit:?} and was rolled back: {AGAIN}"),
            ),
            Refused::Interrupted => Self::new(
                Code::Interrupted,
                format!("the server is going down, the handler was rolled back: {AGAIN}"),
            ),
            Refused::Panicked => Self::new(
                Code::HandlerPanicked,
                "the handler panicked and was rolled back",
            ),
            Refused::TransactionNotReturned => Self::new(
                Code::TransactionNotReturned,
                "the handler returned while its transaction was still out, in a spawned task for \
                 example; everything was rolled back",
            ),
            Refused::TransactionNotUsed => Self::new(
                Code::TransactionNotUsed,
                "the handler succeeded without taking its transaction, so that its writes, if \
                 any, went elsewhere and are not protected; no key was recorded",
            ),
            Refused::TransactionEnded(_) => Self::new(
                Code::TransactionEnded,
                "the handler ended its transaction by hand: its effect may be committed without \
                 a record, so that a repeat may double it",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Code; 19] = [
        Code::KeyMissing,
        Code::KeyMalformed,
        Code::ScopeMissing,
        Code::BodyUnreadable,
        Code::BodyTimeout,
        Code::BodyTooLarge,
        Code::KeyReused,
        Code::InProgress,
        Code::StoreUnavailable,
        Code::WorkLimitExceeded,
        Code::Interrupted,
        Code::HandlerPanicked,
        Code::ResponseTooLarge,
        Code::ResponseBodyFailed,
        Code::ResponseTrailers,
        Code::UpgradeRefused,
        Code::TransactionNotReturned,
        Code::TransactionNotUsed,
        Code::TransactionEnded,
    ];

    #[test]
    fn every_type_leads_to_a_row_of_the_readme_with_its_status() {
        let readme = include_str!("../../README.md");
        for code in ALL {
            let hint = code.retry_after().map_or("", |_| ", Retry-After");
            let (text, status) = (code.as_str(), code.status().as_u16());
            let row = format!("| <a id=\"{text}\"></a>`{text}` | {status}{hint} |");
            assert!(readme.contains(&row), "{row}");
        }
    }

    #[test]
    fn a_detail_is_escaped_and_the_base_is_the_users() {
        let problem = Problem::new(Code::KeyMalformed, "\"a\u{1}b\" is no key");
        let response = problem.into_response("https://errors.example/");
        let body: serde_json::Value = serde_json::from_slice(response.body()).unwrap();
        assert_eq!(body["type"], "https://errors.example/key-malformed");
        assert_eq!(body["detail"], "\"a\u{1}b\" is no key");
    }
}
