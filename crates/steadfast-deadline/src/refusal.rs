//! What is answered to a call for which no time is left?

use std::time::Duration;

use steadfast_core::{BoxError, Failure, Outcome, Reason, Rejected, Report};

/// Nothing was sent. The cause is a [`Rejected`], so that a retry loop above stops instead of
/// asking again.
#[cold]
pub(crate) fn refused() -> BoxError {
    let report = Report::new(
        0,
        Duration::ZERO,
        Some(Reason::Deadline),
        Outcome::NotApplied,
    );
    Failure::new(report, Rejected::new(Reason::Deadline)).into()
}
