use std::error::Error;
use std::fmt;

use steadfast_admission::Mode;
use steadfast_core::Ratio;

use super::Draft;

/// A part of a server's policy that could not do what it says, under the name that it has in a
/// file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Conflict {
    /// No request has any time.
    NoTime,
    /// Retries are never too many.
    NeverTooMany {
        /// The share above which they are.
        share: Ratio,
    },
    /// No header tells a retry.
    NoMarks,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTime => f.write_str("deadline.maximum is 0s: every request is refused"),
            Self::NeverTooMany { share } => {
                let percent = f64::from(share.as_millionths()) / 10_000.0;
                write!(
                    f,
                    "arrivals.share is {percent}%: retries are never above it; set a lower one, \
                     or mode = \"off\""
                )
            }
            Self::NoMarks => f.write_str(
                "arrivals.marks is empty: no retry is ever seen; name a header, or set mode = \
                 \"off\"",
            ),
        }
    }
}

/// A server's policy whose parts do not fit together: every [`Conflict`] of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidPolicy(Vec<Conflict>);

impl InvalidPolicy {
    pub(super) fn of(conflicts: Vec<Conflict>) -> Option<Self> {
        (!conflicts.is_empty()).then_some(Self(conflicts))
    }

    /// All of them; at least one.
    pub fn conflicts(&self) -> &[Conflict] {
        &self.0
    }
}

impl fmt::Display for InvalidPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, conflict) in self.0.iter().enumerate() {
            if n > 0 {
                f.write_str("; ")?;
            }
            conflict.fmt(f)?;
        }
        Ok(())
    }
}

impl Error for InvalidPolicy {}

/// All conflicts of a draft.
pub(super) fn conflicts(draft: &Draft) -> Vec<Conflict> {
    let (arrivals, mut found) = (&draft.arrivals, Vec::new());
    if draft.deadline.maximum().is_zero() {
        found.push(Conflict::NoTime);
    }
    if arrivals.mode() == Mode::Off {
        return found;
    }
    let share = arrivals.share();
    if share >= Ratio::ONE {
        found.push(Conflict::NeverTooMany { share });
    }
    if arrivals.marks().is_empty() {
        found.push(Conflict::NoMarks);
    }
    found
}
