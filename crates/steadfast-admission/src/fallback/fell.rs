use std::error::Error;

use http::{Method, response};
use steadfast_core::{Failure, Reason, Rejected, Report};

/// A call that failed, as the function sees it that answers in its place.
#[derive(Clone, Copy, Debug)]
pub struct Fell<'a> {
    pub(super) reason: Reason,
    pub(super) method: &'a Method,
    pub(super) error: Option<&'a (dyn Error + Send + Sync + 'static)>,
    pub(super) head: Option<&'a response::Parts>,
}

impl<'a> Fell<'a> {
    /// Why it failed: one of the reasons that the layer was given.
    pub const fn reason(&self) -> Reason {
        self.reason
    }

    /// The method of its request. What stands in for an answer to a GET is a lie to a POST.
    pub const fn method(&self) -> &'a Method {
        self.method
    }

    /// The error with which it ended; `None` where it ended with an answer of the peer.
    pub const fn error(&self) -> Option<&'a (dyn Error + Send + Sync + 'static)> {
        self.error
    }

    /// Status, headers and extensions of the peer's answer that is replaced; beside an error, of
    /// the [last one before it](Failure::last_head), where it is known.
    pub fn head(&self) -> Option<&'a response::Parts> {
        self.head
            .or_else(|| failure(self.error?).and_then(Failure::last_head))
    }

    /// How the call went, where a layer reported it.
    pub fn report(&self) -> Option<&'a Report> {
        match self.error {
            Some(error) => failure(error).map(Failure::report),
            None => self.head?.extensions.get(),
        }
    }
}

fn failure<'a>(error: &'a (dyn Error + Send + Sync + 'static)) -> Option<&'a Failure> {
    Failure::find(error)
}

/// Why a call ended with this error: as its report says, else as the layer that refused it.
pub(super) fn reason_of(error: &(dyn Error + 'static)) -> Option<Reason> {
    let reported = Failure::find(error).and_then(|failure| failure.report().reason);
    reported.or_else(|| Rejected::find(error).map(Rejected::reason))
}
