use std::error::Error;
use std::fmt;
use std::time::Duration;

use crate::chain::find;

/// Time that ran out, and whose it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elapsed {
    limit: Duration,
    cut: Cut,
}

/// Which limit ended the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cut {
    /// The configured time of one attempt: the peer missed the time that we gave it.
    AttemptTimeout,
    /// The call's own deadline, which left the attempt less than its configured time.
    Deadline,
}

impl Elapsed {
    /// Time of this length ran out.
    pub const fn new(limit: Duration, cut: Cut) -> Self {
        Self { limit, cut }
    }

    /// How long the work was given.
    pub const fn limit(&self) -> Duration {
        self.limit
    }

    /// Which limit ended it.
    pub const fn cut(&self) -> Cut {
        self.cut
    }

    /// The first such error in the source chain of `error`.
    pub fn find<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a Self> {
        find(error)
    }
}

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.cut {
            Cut::AttemptTimeout => "the attempt timeout",
            Cut::Deadline => "the deadline",
        };
        write!(f, "no answer before {what}, after {:?}", self.limit)
    }
}

impl Error for Elapsed {}
