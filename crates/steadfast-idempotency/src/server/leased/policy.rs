use std::future::Future;

use super::claim::OnExpired;
use super::resolver::{NoResolver, Resolution, Resolver, UnknownOutcome};

mod sealed {
    #[expect(unnameable_types, reason = "so that nobody else implements it")]
    pub trait Sealed {}
}

/// What happens to an operation whose outcome nobody knows: [`Reentrant`] or [`AtMostOnce`].
///
/// Outcomes are lost with the process, the lease or the connection of an owner, and where a
/// handler fails without saying what it did. There is no third answer, and none by default.
pub trait LeasePolicy: sealed::Sealed + Clone + Send + Sync + 'static {
    /// What a lease that ended without a word leaves behind.
    const ON_EXPIRED: OnExpired;

    /// Asks what became of a lost claim.
    fn probe(&self, unknown: UnknownOutcome) -> impl Future<Output = Resolution> + Send;
}

/// The work runs again: at least once.
///
/// For effects that are safe to repeat: the downstream deduplicates the key that
/// [`Lease::child`](super::Lease::child) derives, or refuses older fences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reentrant;

/// The work never runs again unless it is shown that it did nothing: at most once.
///
/// Until then the operation answers 409 `outcome-unknown`. A [`Resolver`] asks downstream; without
/// one [`LeasedEngine::resolve`](super::LeasedEngine::resolve) waits for an operator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AtMostOnce<R = NoResolver>(R);

impl AtMostOnce {
    /// Unknown outcomes wait for an operator.
    pub const fn new() -> Self {
        Self(NoResolver)
    }
}

impl<R> AtMostOnce<R> {
    /// Unknown outcomes are asked for when a repeat meets them.
    pub const fn with_resolver(resolver: R) -> Self {
        Self(resolver)
    }
}

impl sealed::Sealed for Reentrant {}

impl LeasePolicy for Reentrant {
    const ON_EXPIRED: OnExpired = OnExpired::TakeOver;

    // Never asked: its claims take over whatever is unknown.
    async fn probe(&self, _: UnknownOutcome) -> Resolution {
        Resolution::StillUnknown
    }
}

impl<R> sealed::Sealed for AtMostOnce<R> {}

impl<R: Resolver> LeasePolicy for AtMostOnce<R> {
    const ON_EXPIRED: OnExpired = OnExpired::Unknown;

    async fn probe(&self, unknown: UnknownOutcome) -> Resolution {
        self.0.resolve(unknown).await
    }
}
