use std::error::Error;
use std::fmt;

use http::response;

use crate::chain::find;
use crate::{BoxError, Report};

/// The error with which a call ends: the report beside the peer's own error.
///
/// The peer's error is the [`source`](Error::source) and can be downcast. When the last answer's
/// body is gone, [`last_head`](Self::last_head) still has its status and headers.
#[derive(Debug)]
pub struct Failure {
    report: Report,
    source: BoxError,
    last_head: Option<Box<response::Parts>>,
}

impl Failure {
    /// A failure of this report and this error.
    pub fn new(report: Report, source: impl Into<BoxError>) -> Self {
        Self {
            report,
            source: source.into(),
            last_head: None,
        }
    }

    /// Adds the head of the last answer that the peer gave.
    #[must_use]
    pub fn with_last_head(mut self, head: response::Parts) -> Self {
        self.last_head = Some(Box::new(head));
        self
    }

    /// How the call went.
    pub const fn report(&self) -> &Report {
        &self.report
    }

    /// Status and headers of the answer to the attempt before the one that failed, if there was one
    /// and it was not handed on.
    pub fn last_head(&self) -> Option<&response::Parts> {
        self.last_head.as_deref()
    }

    /// The outermost failure in the source chain of `error`.
    pub fn find<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a Self> {
        find(error)
    }

    /// The error that ended the last attempt, without the report.
    pub fn into_source(self) -> BoxError {
        self.source
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report {
            attempts,
            reason,
            outcome,
            ..
        } = &self.report;
        write!(f, "the call failed after {attempts} attempt")?;
        if *attempts != 1 {
            f.write_str("s")?;
        }
        if let Some(reason) = reason {
            write!(f, " ({reason})")?;
        }
        write!(f, ", outcome {}", outcome.as_str())
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::time::Duration;

    use super::*;
    use crate::{Outcome, Reason};

    #[test]
    fn the_peers_error_stays_reachable_by_type() {
        let report = Report::new(
            2,
            Duration::from_secs(1),
            Some(Reason::Deadline),
            Outcome::Unknown,
        );
        let inner = Failure::new(report, io::Error::from(io::ErrorKind::ConnectionReset));
        let outer: BoxError = Box::new(Failure::new(report, inner));
        let io: &io::Error = find(&*outer).unwrap();
        assert_eq!(io.kind(), io::ErrorKind::ConnectionReset);
        assert_eq!(Failure::find(&*outer).unwrap().report(), &report);
        assert_eq!(
            outer.to_string(),
            "the call failed after 2 attempts (deadline), outcome unknown"
        );
    }
}
