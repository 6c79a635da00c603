//! Which code an error of a call has.

use std::error::Error;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use steadfast_core::grpc::Code;
use steadfast_core::{
    BoxError, Classify, Cut, Delivery, Elapsed, Reason, Rejected, Verdict, chain,
    downcast_ref as is,
};
use steadfast_hyper::HyperClassify;
use tonic::{ConnectError, Status, TimeoutExpired};

/// The [`Status`] of an error, with that error as its source: `Failure::find`, `Rejected::find`,
/// `Elapsed::find` and the transport's own types go on working on the status.
///
/// | outermost cause that says something | code |
/// |---|---|
/// | a `Status` | its own, with message, details and metadata |
/// | `Rejected`: circuit open, cooldown, owned upstream | `UNAVAILABLE` |
/// | `Rejected`: bulkhead full, budget exhausted | `RESOURCE_EXHAUSTED` |
/// | `Rejected`: deadline; `Elapsed` but for connecting; tonic's timeout | `DEADLINE_EXCEEDED` |
/// | `Rejected`: a key that is missing or too old | `FAILED_PRECONDITION` |
/// | no connection, a refused stream, a connection that broke | `UNAVAILABLE` |
/// | a request that could not be built | `INTERNAL` |
/// | another error of HTTP/2's | what tonic makes of it |
/// | anything else | `UNKNOWN` |
pub fn status_of(error: BoxError) -> Status {
    let error = match error.downcast::<Status>() {
        Ok(status) => return *status,
        Err(error) => error,
    };
    let found = chain(&*error).find_map(|cause| match is::<Status>(cause) {
        Some(status) => Some(copy(status)),
        None => of_one(cause).map(|code| Status::new(wire(code), cause.to_string())),
    });
    let found = found.or_else(|| {
        let code = of_transport(&*error)?;
        Some(Status::new(wire(code), error.to_string()))
    });
    match found {
        Some(mut status) => {
            status.set_source(Arc::from(error));
            status
        }
        // Keeps it as the source too.
        None => Status::from_error(error),
    }
}

/// A [`Status`] cannot be cloned where it has a source.
fn copy(status: &Status) -> Status {
    Status::with_details_and_metadata(
        status.code(),
        status.message(),
        Bytes::copy_from_slice(status.details()),
        status.metadata().clone(),
    )
}

fn of_one(cause: &(dyn Error + 'static)) -> Option<Code> {
    if let Some(rejected) = is::<Rejected>(cause) {
        return Some(of_reason(rejected.reason()));
    }
    if let Some(elapsed) = is::<Elapsed>(cause) {
        return Some(match elapsed.cut() {
            Cut::Connect => Code::Unavailable,
            Cut::AttemptTimeout | Cut::Deadline | Cut::BodyIdle | Cut::BodyTotal => {
                Code::DeadlineExceeded
            }
        });
    }
    if is::<TimeoutExpired>(cause).is_some() {
        return Some(Code::DeadlineExceeded);
    }
    is::<ConnectError>(cause).map(|_| Code::Unavailable)
}

fn of_reason(reason: Reason) -> Code {
    match reason {
        Reason::Deadline => Code::DeadlineExceeded,
        Reason::BulkheadFull | Reason::BudgetExhausted => Code::ResourceExhausted,
        Reason::KeyRequired | Reason::KeyExpired => Code::FailedPrecondition,
        Reason::Cancelled => Code::Cancelled,
        _ => Code::Unavailable,
    }
}

fn of_transport(error: &(dyn Error + 'static)) -> Option<Code> {
    match HyperClassify.error(error) {
        Verdict::Refused | Verdict::Transient(Delivery::Unsent) => Some(Code::Unavailable),
        Verdict::Permanent(_) => Some(Code::Internal),
        // The connection broke; what HTTP/2 says of a stream that did not is tonic's to read.
        _ => chain(error)
            .any(|cause| is::<io::Error>(cause).is_some())
            .then_some(Code::Unavailable),
    }
}

/// The code as tonic has it.
pub(super) fn wire(code: Code) -> tonic::Code {
    tonic::Code::from_i32(i32::from(code.number()))
}

/// The code of a status, as core has it.
pub(crate) fn code_of(status: &Status) -> Code {
    let number = usize::try_from(i32::from(status.code())).ok();
    let code = number.and_then(|number| Code::ALL.get(number).copied());
    code.unwrap_or(Code::Unknown)
}
