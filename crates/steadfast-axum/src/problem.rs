use std::error::Error;
use std::time::Duration;

use axum_core::body::Body;
use axum_core::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use steadfast_core::{Elapsed, Failure, Reason, Rejected};

/// An error of Steadfast's layers as an answer: problem details (RFC 9457) with a stable `code`,
/// and `Retry-After` where a layer knows when.
///
/// | error | status | code |
/// |---|---|---|
/// | a refusal for want of time, or time that ran out | 504 | `deadline`, or the name of the time |
/// | any other refusal: `circuit_open`, `bulkhead_full`, … | 503 | the reason's |
/// | anything else, of a call to another server ([`of_call`](Self::of_call)) | 502 | `upstream` |
/// | anything else, of the server's own ([`of_server`](Self::of_server)) | 500 | `internal` |
///
/// Neither the error's text nor the other server's name is told: that is for the log.
///
/// ```
/// use axum::http::StatusCode;
/// use axum::response::IntoResponse;
/// use steadfast_axum::Problem;
/// use steadfast_core::{BoxError, Reason, Rejected};
///
/// async fn stock() -> Result<&'static str, Problem> {
///     // A call through a client's stack, whose circuit is open.
///     let answer: Result<&str, BoxError> = Err(Rejected::new(Reason::CircuitOpen).into());
///     answer.map_err(|error| Problem::of_call(&*error))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let answer = stock().await.into_response();
/// assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Problem {
    status: StatusCode,
    code: &'static str,
    detail: &'static str,
    retry_in: Option<Duration>,
}

impl Problem {
    /// What a handler answers when a call of its own failed so.
    pub fn of_call(error: &(dyn Error + 'static)) -> Self {
        Self::of(error).unwrap_or(Self {
            status: StatusCode::BAD_GATEWAY,
            code: "upstream",
            detail: "another server that this answer needs has failed",
            retry_in: None,
        })
    }

    /// What a server answers when a layer or a service of its own failed so.
    pub fn of_server(error: &(dyn Error + 'static)) -> Self {
        Self::of(error).unwrap_or(Self {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            code: "internal",
            detail: "the server has failed",
            retry_in: None,
        })
    }

    fn of(error: &(dyn Error + 'static)) -> Option<Self> {
        if let Some(rejected) = Rejected::find(error) {
            if rejected.reason() != Reason::Deadline {
                return Some(Self::refused(rejected));
            }
            return Some(Self::late("deadline"));
        }
        if let Some(elapsed) = Elapsed::find(error) {
            use steadfast_core::Cut;
            return Some(Self::late(match elapsed.cut() {
                Cut::Deadline => "deadline",
                Cut::AttemptTimeout => "attempt_timeout",
                Cut::BodyIdle => "body_idle",
                Cut::BodyTotal => "body_total",
                Cut::Connect => "connect_timeout",
            }));
        }
        let reason = Failure::find(error)?.report().reason?;
        (reason == Reason::Deadline).then(|| Self::late("deadline"))
    }

    const fn late(code: &'static str) -> Self {
        Self {
            status: StatusCode::GATEWAY_TIMEOUT,
            code,
            detail: "there was not enough time to answer",
            retry_in: None,
        }
    }

    const fn refused(rejected: &Rejected) -> Self {
        Self {
            status: StatusCode::SERVICE_UNAVAILABLE,
            code: rejected.reason().as_str(),
            detail: "refused, to protect this server or another one",
            retry_in: rejected.retry_in(),
        }
    }

    /// The status it answers with.
    pub const fn status(&self) -> StatusCode {
        self.status
    }

    /// Its `code`.
    pub const fn code(&self) -> &'static str {
        self.code
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = details(self.status, self.code, self.detail);
        if let Some(wait) = self.retry_in {
            // Whole seconds, rounded up: never earlier than the layer lets a call through.
            let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
            let headers = response.headers_mut();
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// Problem details; the texts are ours, without quotes or control characters.
pub(crate) fn details(status: StatusCode, code: &str, detail: &str) -> Response {
    let body = format!(
        concat!(
            r#"{{"type":"about:blank","title":"{title}","status":{status},"#,
            r#""detail":"{detail}","code":"{code}"}}"#,
        ),
        title = status.canonical_reason().unwrap_or_default(),
        status = status.as_u16(),
        detail = detail,
        code = code,
    );
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/problem+json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}
