use std::error::Error;

use http::{Extensions, HeaderMap, Response, StatusCode, response};
use steadfast_core::grpc::{Code, Transport};
use steadfast_core::{
    Answer, CallState, Hint, Preconditions, Rejected, RouteRule, Safety, SafetySources,
};

use super::Call;
use crate::attempts::Brought;
use crate::hold::Until;
use crate::template::HeadView;
use crate::{Commit, RetryConfig, clock};

/// An answer's head, wherever it stands.
#[derive(Clone, Copy)]
pub(crate) struct Head<'a> {
    pub(crate) status: StatusCode,
    headers: &'a HeaderMap,
    extensions: &'a Extensions,
}

impl<'a, R> From<&'a Response<R>> for Head<'a> {
    fn from(answer: &'a Response<R>) -> Self {
        Self {
            status: answer.status(),
            headers: answer.headers(),
            extensions: answer.extensions(),
        }
    }
}

impl<'a> From<&'a response::Parts> for Head<'a> {
    fn from(head: &'a response::Parts) -> Self {
        Self {
            status: head.status,
            headers: &head.headers,
            extensions: &head.extensions,
        }
    }
}

/// What an attempt brought, read off its answer or error.
impl<C: AsRef<RetryConfig>> Call<C> {
    /// What an answer's head says.
    pub(crate) fn read_answer(&self, head: Head<'_>) -> Brought {
        if let Some(brought) = self.read_status(head, head.headers) {
            return brought;
        }
        let config = self.config();
        let mut answer = Answer::new(head.status, head.headers);
        answer.rule = self.rule();
        if head.status.as_u16() >= 400 {
            // A hint layer below has read it already.
            let read = || config.hints.read(head.headers, clock::wall);
            answer.hint = head.extensions.get().copied().unwrap_or_else(read);
            let keyed = self.safety() == Safety::Keyed;
            answer.keyed_after_unknown = keyed && self.attempts.unknown_before();
        }
        Brought {
            hint: answer.hint,
            throttled: head.status == StatusCode::TOO_MANY_REQUESTS,
            ..Brought::new(config.classify.answer(&answer))
        }
    }

    /// Whether an answer is a success that nothing after its head can take back.
    #[inline]
    pub(super) fn is_plain_success(&self, head: Head<'_>) -> bool {
        let mut answer = Answer::new(head.status, head.headers);
        answer.rule = self.rule();
        head.status.as_u16() < 400
            && (head.headers.is_empty() || !is_grpc(head.headers))
            && self.config().classify.answer(&answer).is_success()
    }

    /// What gRPC's status in an answer's headers or trailers says; `None` where there is none.
    pub(crate) fn read_status(&self, head: Head<'_>, headers: &HeaderMap) -> Option<Brought> {
        if !is_grpc(head.headers) {
            return None;
        }
        let code = Code::of(headers)?;
        let config = self.config();
        let hint = match code {
            Code::Ok => Hint::None,
            _ => config.hints.read_grpc(headers),
        };
        let throttled = code == Code::ResourceExhausted;
        Some(Brought {
            hint,
            throttled,
            ..Brought::new(code.verdict(self.attempts.retryable_codes()))
        })
    }

    /// How far an answer that looks well is read before it is handed on.
    ///
    /// Only where a failure could still be repeated, and never while the request is being sent:
    /// its sender may wait for this answer.
    pub(crate) fn holds(&self, head: Head<'_>, uploaded: impl FnOnce() -> bool) -> Option<Until> {
        let until = match self.attempts.commit() {
            Commit::WholeBody { limit } => Until::End(limit),
            Commit::FirstFrame if is_grpc(head.headers) => Until::FirstFrame,
            Commit::FirstFrame | Commit::Head => return None,
        };
        // The last attempt of gRPC too: only its first frame tells the budget how it went.
        let last = self.attempts.made() >= self.attempts.max();
        let repeatable = self.may_repeat()
            && !(last && matches!(until, Until::End(_)))
            && self.safety() != Safety::Unprotected
            && !head.status.is_informational();
        (repeatable && uploaded()).then_some(until)
    }

    /// What an error says.
    pub(crate) fn read_error(&self, error: &(dyn Error + 'static)) -> Brought {
        let admitted_in = Rejected::find(error).and_then(Rejected::retry_in);
        Brought {
            admitted_in,
            ..Brought::new(self.config().classify.error(error))
        }
    }
}

/// What a repeat of this request may do.
pub(super) fn safety(rule: Option<&RouteRule>, head: HeadView<'_>) -> Safety {
    let state = head.state;
    let conditional = || {
        let preconditions = rule.map_or(&STANDARD, RouteRule::preconditions);
        preconditions.hold_for(head.uri, head.headers)
    };
    let sources = SafetySources {
        explicit: state.and_then(CallState::safety),
        rule: rule.and_then(RouteRule::safety),
        keyed: state.is_some_and(|state| state.key().is_some()),
        // Nobody asks of a safe method.
        conditional: Safety::of_method(head.method) != Safety::Safe && conditional(),
        put_needs_precondition: rule.is_some_and(RouteRule::put_needs_precondition),
    };
    Safety::decide(sources, head.method)
}

static STANDARD: Preconditions = Preconditions::new();

/// gRPC over HTTP/2; gRPC-Web has its trailers in the body.
fn is_grpc(headers: &HeaderMap) -> bool {
    Transport::of(headers) == Some(Transport::Http2)
}
