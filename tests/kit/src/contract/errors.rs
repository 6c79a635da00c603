use std::error::Error;
use std::fmt;

use http::Response;

use super::rig::{call, frames, ready, service};
use super::{Inner, Subject};
use crate::{BoxError, Chunks, Piece, Probe, Readiness, Step};

/// An error of the inner service that no layer knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marked(pub &'static str);

impl fmt::Display for Marked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the inner service failed: {}", self.0)
    }
}

impl Error for Marked {}

/// The mark in an error or in one of its sources; some come in boxes of their own.
fn find(error: &BoxError) -> Option<Marked> {
    let mut cause: Option<&(dyn Error + 'static)> = Some(&**error);
    while let Some(error) = cause {
        let boxed = error.downcast_ref::<Box<Marked>>().map(|mark| **mark);
        if let Some(mark) = error.downcast_ref::<Marked>().copied().or(boxed) {
            return Some(mark);
        }
        cause = error.source();
    }
    None
}

fn assert_found(error: &BoxError, mark: Marked) {
    assert_eq!(find(error), Some(mark), "not found in {error:?}");
}

/// Inner calls that fail, more than any layer makes for one call of the trial.
const FAILURES: usize = 64;

pub(super) async fn are_found<S: Subject>(subject: &S) {
    let mark = Marked("in a call");
    let steps = (0..FAILURES).map(|_| Step::fail(mark));
    let inner: Inner<S::Sent> = Probe::script(steps);
    match call(subject, &mut service(subject, &inner)).await {
        Ok(answer) => panic!("an error became an answer of {}", answer.status()),
        Err(error) => assert_found(&error, mark),
    }

    let mark = Marked("while getting ready");
    let inner: Inner<S::Sent> = Probe::script([]);
    let _ = inner.clone().with_readiness([Readiness::fail(mark)]);
    let mut service = service(subject, &inner);
    let error = match ready(&mut service).await {
        Err(error) => error,
        // A layer that gets inner services ready in its calls must say it there.
        Ok(()) => match call(subject, &mut service).await {
            Ok(_) => panic!("an inner service that did not get ready was called"),
            Err(error) => error,
        },
    };
    assert_found(&error, mark);
}

pub(super) async fn of_bodies_are_found<S: Subject>(subject: &S) {
    let mark = Marked("in a body");
    let body = Chunks::new([Piece::data("half"), Piece::Pending, Piece::fail(mark)]);
    let inner: Inner<S::Sent> = Probe::script([Step::answer(Response::new(body))]);
    let error = match call(subject, &mut service(subject, &inner)).await {
        Err(error) => error,
        Ok(answer) => match frames(answer.into_body()).await.1 {
            None => panic!("a body that broke off seems whole"),
            Some(error) => error,
        },
    };
    assert_found(&error, mark);
}
