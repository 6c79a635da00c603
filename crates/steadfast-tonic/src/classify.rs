use std::error::Error;

use steadfast_core::grpc::{Code, RetryableCodes};
use steadfast_core::{
    Answer, Classify, DefaultClassify, Delivery, Failure, Rejected, Verdict, chain,
    downcast_ref as is,
};
use steadfast_hyper::HyperClassify;
use tonic::{ConnectError, Status, TimeoutExpired};

use crate::http_status::{code_of_http, is_grpc};
use crate::status::code_of;

/// What tonic's errors mean, and what answers mean that are no gRPC.
///
/// - Errors of the transport, whether bare or inside a [`Status`]: a connection that never came
///   was not sent to, `REFUSED_STREAM` and a GOAWAY below the stream were not processed, everything
///   else is unknown ([`HyperClassify`]).
/// - A [`Status`] without such a cause, from an interceptor or a body: its code, against the
///   retryable codes.
/// - An answer that is no gRPC: its HTTP status as a code
///   ([`code_of_http`](crate::code_of_http)), against the same codes. Delivery is the HTTP table's:
///   429 was not processed.
///
/// The status of a gRPC answer is read by the retry layer itself.
///
/// ```
/// use steadfast_core::{Classify, Delivery, Verdict};
/// use steadfast_tonic::TonicClassify;
/// use tonic::Status;
///
/// let classify = TonicClassify::default();
/// let unavailable = Verdict::Transient(Delivery::Unknown);
/// assert_eq!(classify.error(&Status::unavailable("restarting")), unavailable);
/// let denied = Verdict::Permanent(Delivery::Answered);
/// assert_eq!(classify.error(&Status::permission_denied("no")), denied);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TonicClassify {
    codes: RetryableCodes,
}

impl TonicClassify {
    /// With these retryable codes. The default has those of [`RetryableCodes::default`]:
    /// UNAVAILABLE.
    pub const fn new(codes: RetryableCodes) -> Self {
        Self { codes }
    }
}

impl Classify for TonicClassify {
    fn answer(&self, answer: &Answer<'_>) -> Verdict {
        if is_grpc(answer.headers) {
            return answer.verdict();
        }
        let by_http = answer.verdict();
        match (by_http, self.codes.contains(code_of_http(answer.status))) {
            (Verdict::Success | Verdict::Permanent(Delivery::Unknown), true) => {
                Verdict::Transient(Delivery::Unknown)
            }
            (Verdict::Success, false) => Verdict::Permanent(Delivery::Unknown),
            (Verdict::Permanent(delivery), true) => Verdict::Transient(delivery),
            (Verdict::Transient(delivery), false) => Verdict::Permanent(delivery),
            (verdict, _) => verdict,
        }
    }

    fn error(&self, error: &(dyn Error + 'static)) -> Verdict {
        for cause in chain(error) {
            if is::<Failure>(cause).is_some() || is::<Rejected>(cause).is_some() {
                return DefaultClassify.error(cause);
            }
            if let Some(ConnectError(cause)) = is::<ConnectError>(cause) {
                return HyperClassify::connector(&**cause);
            }
            if is::<TimeoutExpired>(cause).is_some() {
                return Verdict::Transient(Delivery::Unknown);
            }
            if let Some(status) = is::<Status>(cause) {
                return self.of_status(status);
            }
        }
        HyperClassify.error(error)
    }
}

impl TonicClassify {
    fn of_status(&self, status: &Status) -> Verdict {
        // tonic makes one of most errors of the transport: these know more than their code.
        let below = status.source().map(|cause| self.error(cause));
        match below {
            Some(Verdict::Transient(Delivery::Unknown)) | None => match code_of(status) {
                Code::Ok => Verdict::Permanent(Delivery::Unknown),
                code => code.verdict(self.codes),
            },
            Some(known) => known,
        }
    }
}

#[cfg(test)]
mod tests;
