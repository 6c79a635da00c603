use std::convert::Infallible;
use std::time::Duration;

use axum_core::extract::FromRequestParts;
use http::request::Parts;
use steadfast_core::{CallContext, Deadline};
use tokio::time::Instant;

/// When the running request must be answered; see [`RequestContext`](crate::RequestContext).
///
/// For handlers that choose by the time they have: a smaller page, a cached answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestDeadline(Deadline);

impl RequestDeadline {
    /// The deadline; [`Deadline::NONE`] where the request has none.
    pub const fn deadline(self) -> Deadline {
        self.0
    }

    /// The time left now, by tokio's clock: zero once expired, `None` without a deadline.
    pub fn left(self) -> Option<Duration> {
        self.0.left(Instant::now().into_std())
    }
}

impl<S: Sync> FromRequestParts<S> for RequestDeadline {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(CallContext::of(&parts.extensions).deadline()))
    }
}
