use std::error::Error;
use std::fmt;
use std::time::Duration;

use crate::Reason;
use crate::chain::find;

/// A refusal of ours: the attempt was not sent.
///
/// One type for every layer, so that [`Rejected::find`] answers "us or them?" for any error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rejected {
    reason: Reason,
    retry_in: Option<Duration>,
}

impl Rejected {
    /// A refusal for this reason.
    pub const fn new(reason: Reason) -> Self {
        Self {
            reason,
            retry_in: None,
        }
    }

    /// Says when another call may be let through.
    #[must_use]
    pub const fn with_retry_in(mut self, retry_in: Duration) -> Self {
        self.retry_in = Some(retry_in);
        self
    }

    /// Why.
    pub const fn reason(&self) -> Reason {
        self.reason
    }

    /// When another call may be let through, if that is known.
    pub const fn retry_in(&self) -> Option<Duration> {
        self.retry_in
    }

    /// The first refusal of ours in the source chain of `error`.
    pub fn find<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a Self> {
        find(error)
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not sent: {}", self.reason)?;
        match self.retry_in {
            Some(wait) => write!(f, ", try again in {wait:?}"),
            None => Ok(()),
        }
    }
}

impl Error for Rejected {}
