use std::future::Future;

use super::fence::Fence;
use crate::OperationKey;
use crate::server::answer::Answer;
use crate::server::operation::Operation;

/// Finds out what became of an operation whose owner was lost.
///
/// It asks where the effect would be: a status endpoint, a lookup by the child key that the lost
/// run sent. A function from [`UnknownOutcome`] to a future is one. It is given the work limit to
/// answer in, and one repeat of an operation asks at a time.
pub trait Resolver: Clone + Send + Sync + 'static {
    /// What became of it.
    fn resolve(&self, unknown: UnknownOutcome) -> impl Future<Output = Resolution> + Send;
}

/// What is known of a lost run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct UnknownOutcome {
    /// What it was asked to do.
    pub operation: Operation,
    /// Its claim.
    pub fence: Fence,
    /// How many claims there were.
    pub attempt: u32,
}

impl UnknownOutcome {
    /// The key that the lost run sent for this step; see [`Lease::child`](super::Lease::child).
    pub fn child(&self, step: &str) -> OperationKey {
        self.operation.child(step)
    }
}

/// What became of a lost run.
#[derive(Clone, Debug)]
pub enum Resolution {
    /// It happened, and this is what every repeat is answered with.
    Applied(Answer),
    /// It did not happen and cannot happen any more: the operation may run again.
    ///
    /// A lost owner may only be slow. Say so only where the downstream refuses its fence or its
    /// key from now on, or where its request can no longer be on the way.
    NotApplied,
    /// It cannot be told yet.
    StillUnknown,
}

/// Nobody asks: the outcome stays unknown until an operator settles it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoResolver;

impl Resolver for NoResolver {
    async fn resolve(&self, _: UnknownOutcome) -> Resolution {
        Resolution::StillUnknown
    }
}

impl<F, Fut> Resolver for F
where
    F: Fn(UnknownOutcome) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = Resolution> + Send,
{
    async fn resolve(&self, unknown: UnknownOutcome) -> Resolution {
        self(unknown).await
    }
}
