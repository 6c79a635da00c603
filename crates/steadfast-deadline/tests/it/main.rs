//! What an attempt under a limit does, on a paused clock.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::time::Duration;

use http::Request;
use steadfast_core::{BoxError, CallState, Cut, Deadline, Elapsed, Failure};
use tokio::time::Instant;

mod body_timeout;
mod call_limit;
mod contract;
mod cost;
mod propagate;
mod server;
mod times;

const MS: Duration = Duration::from_millis(1);

/// A request that must be answered by `deadline`.
fn due(deadline: Deadline) -> Request<()> {
    let mut request = Request::new(());
    CallState::edit(request.extensions_mut(), |state| {
        state.tighten_deadline(deadline)
    });
    request
}

fn in_time(left: Duration) -> Deadline {
    Deadline::after(Instant::now().into_std(), left)
}

/// How long the attempt was given and by what; the report must fit that.
fn given(error: &BoxError) -> (Duration, Cut) {
    let failure = Failure::find(&**error).unwrap();
    let elapsed = Elapsed::find(&**error).unwrap();
    assert_eq!(failure.report().attempts, 1);
    assert_eq!(failure.report().elapsed, elapsed.limit());
    assert_eq!(
        failure.report().reason,
        Some(steadfast_core::Reason::Deadline)
    );
    assert_eq!(failure.report().outcome, steadfast_core::Outcome::Unknown);
    (elapsed.limit(), elapsed.cut())
}
