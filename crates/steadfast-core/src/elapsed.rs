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
    /// The time between two frames of a body: the peer fell silent in the middle.
    BodyIdle,
    /// The time that a whole body may take.
    BodyTotal,
    /// The time to get a connection: nothing was sent.
    Connect,
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
            Cut::AttemptTimeout => "no answer before the attempt timeout",
            Cut::Deadline => "no end before the deadline",
            Cut::BodyIdle => "nothing more of the body before the idle limit",
            Cut::BodyTotal => "no end of the body before its limit",
            Cut::Connect => "no connection before the connect timeout",
        };
        write!(f, "{what}, after {:?}", self.limit)
    }
}

impl Error for Elapsed {}
