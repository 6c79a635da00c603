use bytes::Bytes;
use http::{HeaderValue, Response, header};
use serde_json::json;

use super::engine::Refused;
use super::execute::Guarantee;

mod code;

pub use code::Code;

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

impl Problem {
    /// Why an operation has no answer, as its caller is told.
    pub fn of(refused: &Refused, guarantee: Guarantee) -> Self {
        const AGAIN: &str = "repeat the request with the same key";
        let undone = guarantee.undone();
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
            Refused::KeyExpired => Self::new(
                Code::KeyExpired,
                "this key was made, as it says itself, before the time for which answers are \
                 kept, and nothing is kept of it: look up what became of the operation, and use \
                 a new key only for a new one",
            ),
            Refused::OutcomeUnknown => Self::new(
                Code::OutcomeUnknown,
                "an earlier request with this key was lost while it ran, and it is not known \
                 what it did; it is not run again until that is known",
            ),
            // The store's own words stay inside: they may name hosts, files and statements.
            Refused::StoreUnavailable(_) => Self::new(
                Code::StoreUnavailable,
                format!("the idempotency store did not do its part: {AGAIN}"),
            ),
            Refused::WorkLimit(limit) => Self::new(
                Code::WorkLimitExceeded,
                format!("the handler took longer than {limit:?}; {undone}: {AGAIN}"),
            ),
            Refused::Interrupted => Self::new(
                Code::Interrupted,
                format!("the server is going down: {AGAIN}"),
            ),
            Refused::Panicked => Self::new(
                Code::HandlerPanicked,
                format!("the handler panicked; {undone}"),
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
                "the transaction ended before its time, by the handler's hand most likely: its \
                 effect may be committed without a record, so that a repeat may double it",
            ),
        }
    }
}

impl Guarantee {
    /// What became of the effect of work that failed.
    pub(super) const fn undone(self) -> &'static str {
        match self {
            Self::Transactional => "it was rolled back",
            Self::Leased => "what it did stays",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Code; 22] = [
        Code::KeyMissing,
        Code::KeyMalformed,
        Code::ScopeMissing,
        Code::BodyUnreadable,
        Code::BodyTimeout,
        Code::BodyTooLarge,
        Code::KeyReused,
        Code::KeyExpired,
        Code::InProgress,
        Code::OutcomeUnknown,
        Code::ReplayRefused,
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
