use std::convert::Infallible;
use std::ops::Deref;

use axum_core::extract::FromRequestParts;
use http::request::Parts;
use steadfast_core::CallContext;

/// What the running request says about the work done for it: its deadline, which attempt of its
/// caller it is, the id of its operation.
///
/// [`CallContext::of`] the request: empty without an inbound deadline layer around the router. A
/// handler needs it only to look: its outbound calls read it themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestContext(CallContext);

impl RequestContext {
    /// The context itself, for [`in_context`](steadfast_core::in_context) for example.
    pub fn into_inner(self) -> CallContext {
        self.0
    }
}

impl Deref for RequestContext {
    type Target = CallContext;

    fn deref(&self) -> &CallContext {
        &self.0
    }
}

impl<S: Sync> FromRequestParts<S> for RequestContext {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(CallContext::of(&parts.extensions)))
    }
}
