//! What the caller is handed in the end: what the peer last said.

use http::{Response, response};
use steadfast_core::{BoxError, Cut, Elapsed, Failure, Report};

use crate::ResponseBody;
use crate::attempts::End;
use crate::response_body::Frames;

/// The last word of the attempts before this one.
pub(crate) enum Last {
    Answer(Box<LastAnswer>),
    Error(BoxError),
}

/// What remains of an answer after the wait.
pub(crate) struct LastAnswer {
    pub(crate) head: response::Parts,
    /// The body, if all of it was read and small.
    pub(crate) body: Option<Frames>,
}

pub(crate) type Handed<R> = Result<Response<ResponseBody<R>>, BoxError>;

/// Hands on the result of the attempt that just ended, or, without one, the last word before it.
///
/// An attempt that could not be sent does not replace an answer that the peer gave before.
pub(crate) fn hand_on<R>(
    end: End,
    result: Option<Result<(response::Parts, ResponseBody<R>), BoxError>>,
    last: Option<Last>,
) -> Handed<R> {
    let report = end.report;
    let (error, last) = match (result, last) {
        (Some(Ok((head, body))), _) => return Ok(answer(report, head, body)),
        (Some(Err(error)), last) => (error, last),
        (None, Some(Last::Error(error))) if end.unsent => (error, None),
        (None, last) => (Elapsed::new(report.elapsed, Cut::Deadline).into(), last),
    };
    match last {
        Some(Last::Answer(last)) if end.unsent => match *last {
            LastAnswer {
                head,
                body: Some(kept),
            } => Ok(answer(report, head, ResponseBody::kept(kept))),
            LastAnswer { head, body: None } => {
                Err(Failure::new(report, error).with_last_head(head).into())
            }
        },
        last => Err(failure(report, error, last)),
    }
}

/// A readiness error ends the call with that error.
pub(crate) fn not_ready<R>(end: End, error: BoxError, last: Option<Last>) -> Handed<R> {
    Err(failure(end.report, error, last))
}

fn answer<R>(
    report: Report,
    head: response::Parts,
    body: ResponseBody<R>,
) -> Response<ResponseBody<R>> {
    reported(report, Response::from_parts(head, body))
}

/// The answer, with what is to be said of the call.
pub(crate) fn reported<R>(report: Report, mut response: Response<R>) -> Response<R> {
    // The common answer carries nothing more, since an extension costs allocations.
    if report.attempts != 1 || report.reason.is_some() {
        response.extensions_mut().insert(report);
    }
    response
}

fn failure(report: Report, error: BoxError, last: Option<Last>) -> BoxError {
    let failure = Failure::new(report, error);
    Box::new(match last {
        Some(Last::Answer(last)) => failure.with_last_head(last.head),
        Some(Last::Error(_)) | None => failure,
    })
}
