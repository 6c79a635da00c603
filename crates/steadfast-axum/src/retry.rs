use std::convert::Infallible;

use axum_core::extract::FromRequestParts;
use http::request::Parts;
use steadfast_core::{CallContext, Owner};

/// Whether the running request is a repeat, and who repeats it; see
/// [`RequestContext`](crate::RequestContext).
///
/// For handlers that look closer at a repeat, or that count them. A first attempt is what nobody
/// said otherwise of: without an inbound deadline layer, or from a caller whose word that layer
/// does not take, every request is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestRetry {
    number: u32,
    max: Option<u32>,
    owner: Option<Owner>,
}

impl RequestRetry {
    /// Which attempt this is; the first is 1.
    pub const fn attempt(self) -> u32 {
        self.number
    }

    /// How many the caller may make at most, if it said so.
    pub const fn max(self) -> Option<u32> {
        self.max
    }

    /// Whether an attempt came before this one.
    pub const fn is_repeat(self) -> bool {
        self.number > 1
    }

    /// Whether the caller, as far as it said, will send no attempt after this one.
    pub fn is_last(self) -> bool {
        self.max.is_some_and(|max| self.number >= max)
    }

    /// The loop further up that repeats this call, and what it leaves to loops of this server.
    pub const fn owner(self) -> Option<Owner> {
        self.owner
    }
}

impl<S: Sync> FromRequestParts<S> for RequestRetry {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let context = CallContext::of(&parts.extensions);
        let owner = context.owner();
        let attempt = owner.map(Owner::attempt).or(context.attempt());
        Ok(Self {
            number: attempt.map_or(1, |attempt| attempt.number.max(1)),
            max: attempt.map(|attempt| attempt.max).filter(|max| *max > 0),
            owner,
        })
    }
}
