use std::error::Error;
use std::sync::Arc;

use http::{HeaderMap, HeaderName, StatusCode};

use crate::{Delivery, Failure, Hint, Outcome, Rejected, RouteRule, Verdict};

/// Says what an attempt's answer or error means.
///
/// Both methods have defaults, so that an adapter overrides the half it knows: the errors of its
/// transport, say. Implementations decide by type and status, never by text.
///
/// The compiler says of anything else "`..` does not say what answers and errors mean", and which
/// classifiers there are:
///
/// ```compile_fail
/// fn judge(_: impl steadfast_core::Classify) {}
/// judge(|_: &str| true);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what answers and errors mean",
    label = "not a `Classify`",
    note = "use the classifier of your transport: `HyperClassify`, `ReqwestClassify`, or \
            `DefaultClassify` where there is none; one of your own is `Send`, `Sync` and \
            `'static`, and overrides `error` or `answer`"
)]
pub trait Classify: Send + Sync + 'static {
    /// What an answer means. Default: the table of [`Answer::verdict`].
    fn answer(&self, answer: &Answer<'_>) -> Verdict {
        answer.verdict()
    }

    /// What an error means. Default: the report of a [`Failure`] says what is known of the effect;
    /// a refusal of ours is [`Verdict::Rejected`], unless an attempt before it may have taken
    /// effect; everything else happened after bytes may have gone out, so its delivery is unknown.
    fn error(&self, error: &(dyn Error + 'static)) -> Verdict {
        let refused = Rejected::find(error).map(|it| Verdict::Rejected(it.reason()));
        let outcome = Failure::find(error).map(|failure| failure.report().outcome);
        match (outcome, refused) {
            // A refusal that ended a call says nothing of the attempts before it.
            (Some(Outcome::Unknown), _) | (None, None) => Verdict::Transient(Delivery::Unknown),
            (Some(Outcome::NotApplied) | None, Some(refused)) => refused,
            (Some(Outcome::NotApplied), None) => Verdict::Transient(Delivery::Unsent),
            (Some(Outcome::Applied), _) => Verdict::Permanent(Delivery::Answered),
        }
    }
}

/// The defaults of [`Classify`]: for transports of which nothing more is known.
#[derive(Clone, Copy, Debug, Default)]
pub struct DefaultClassify;

impl Classify for DefaultClassify {}

/// One classifier for several layers.
impl Classify for Arc<dyn Classify> {
    fn answer(&self, answer: &Answer<'_>) -> Verdict {
        (**self).answer(answer)
    }

    fn error(&self, error: &(dyn Error + 'static)) -> Verdict {
        (**self).error(error)
    }
}

/// An answer's head, and what the call knows that its meaning depends on.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Answer<'a> {
    /// The answer's status.
    pub status: StatusCode,
    /// The answer's headers.
    pub headers: &'a HeaderMap,
    /// What the headers say about when to come back.
    pub hint: Hint,
    /// Whether the call carries a key and an earlier attempt's delivery is unknown: a 409 then
    /// means "the first is still running".
    pub keyed_after_unknown: bool,
    /// The policy's rule for the request's route.
    pub rule: Option<&'a RouteRule>,
}

impl<'a> Answer<'a> {
    /// An answer to a first attempt without a hint.
    pub const fn new(status: StatusCode, headers: &'a HeaderMap) -> Self {
        Self {
            status,
            headers,
            hint: Hint::None,
            keyed_after_unknown: false,
            rule: None,
        }
    }

    /// The verdict of the table:
    ///
    /// - 408, 425, 429, 500, 502, 503, 504 are transient, with or without a hint;
    /// - 413 is transient with a readable hint only (RFC 9110 §15.5.14);
    /// - 409 is transient where the call carries a key and an earlier attempt is unknown;
    /// - a status that the route's rule names is transient, and the peer did not act;
    /// - a 5xx that is marked as a replay is what the peer will always say;
    /// - the peer's own word (`x-should-retry`, `stripe-should-retry`) wins over all of these;
    /// - below 400 is a success, everything else is permanent.
    #[inline]
    pub fn verdict(&self) -> Verdict {
        if self.status.as_u16() < 400 {
            return Verdict::Success;
        }
        let by_status = self.by_status();
        if self.headers.is_empty() {
            return by_status;
        }
        match should_retry(self.headers) {
            Some(true) => match by_status {
                Verdict::Permanent(_) => Verdict::Transient(Delivery::Unknown),
                other => other,
            },
            Some(false) => match by_status.delivery() {
                Some(delivery) => Verdict::PeerSaidNo(delivery),
                None => by_status,
            },
            None => by_status,
        }
    }

    fn by_status(&self) -> Verdict {
        let status = self.status;
        let hinted = matches!(self.hint, Hint::Wait(_));
        if status.is_server_error() && is_replay(self.headers) {
            return Verdict::Permanent(Delivery::Answered);
        }
        if self.rule.is_some_and(|rule| rule.is_unprocessed(status)) {
            return Verdict::Transient(Delivery::Unprocessed);
        }
        match status {
            StatusCode::PAYLOAD_TOO_LARGE if hinted => Verdict::Transient(Delivery::Unprocessed),
            StatusCode::CONFLICT if self.keyed_after_unknown => {
                Verdict::Transient(Delivery::Unprocessed)
            }
            _ => match delivery_of_status(status) {
                Delivery::Answered => Verdict::Permanent(Delivery::Answered),
                delivery => Verdict::Transient(delivery),
            },
        }
    }
}

/// What a status alone says about whether the peer acted.
///
/// 503 is unknown with or without a hint, because gateways add one after processing.
pub fn delivery_of_status(status: StatusCode) -> Delivery {
    match status.as_u16() {
        425 | 429 => Delivery::Unprocessed,
        408 | 500 | 502 | 503 | 504 => Delivery::Unknown,
        _ => Delivery::Answered,
    }
}

static SHOULD_RETRY: [HeaderName; 2] = [
    HeaderName::from_static("x-should-retry"),
    HeaderName::from_static("stripe-should-retry"),
];

static REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// The word that some peers put beside a failure, in whichever spelling.
fn should_retry(headers: &HeaderMap) -> Option<bool> {
    SHOULD_RETRY
        .iter()
        .find_map(|name| match headers.get(name)?.as_bytes() {
            word if word.eq_ignore_ascii_case(b"true") => Some(true),
            word if word.eq_ignore_ascii_case(b"false") => Some(false),
            _ => None,
        })
}

fn is_replay(headers: &HeaderMap) -> bool {
    headers
        .get(&REPLAYED)
        .is_some_and(|value| value.as_bytes() == b"true")
}

#[cfg(test)]
mod tests;
