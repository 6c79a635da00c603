use steadfast_core::{CallContext, Owner};

use crate::RetryConfig;

/// What a retry layer does while it works for a request whose caller's loop repeats it
/// ([`CallContext::owner`](steadfast_core::CallContext::owner)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum UpstreamOwner {
    /// Leaves the repeats to that loop: it sends each call once. Four attempts at each of three
    /// hops are four, not 64. What the loop leaves to others is handed on whole.
    #[default]
    PassThrough,
    /// Makes at most the attempts that the loop leaves, of its own share of the budget; passes the
    /// call through where it leaves none. Never more than the layer's own attempts. What is left
    /// can be divided further with [`RetryConfig::with_next_hop`].
    Split,
    /// Repeats all the same: for calls that outlive the request they are made for.
    Ignore,
}

/// Whose the repeats of a call are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ownership {
    /// This layer's.
    Own,
    /// This layer's, as far as its owner leaves any.
    Part(Owner),
    /// Somebody else's.
    Foreign,
}

impl Ownership {
    /// Of a call that a loop further out in this process repeats, or not.
    pub(crate) fn of(config: &RetryConfig, in_process: bool) -> Self {
        if in_process {
            return Self::Foreign;
        }
        match (config.upstream, CallContext::current_owner()) {
            (UpstreamOwner::Ignore, _) | (_, None) => Self::Own,
            (UpstreamOwner::Split, Some(owner)) if owner.allowance().is_some() => Self::Part(owner),
            (UpstreamOwner::Split | UpstreamOwner::PassThrough, Some(_)) => Self::Foreign,
        }
    }
}
