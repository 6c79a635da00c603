use std::future::Future;

use super::engine::{Engine, Execution, Worked};
use super::fingerprint::Fingerprint;
use super::leased::{Lease, LeasePolicy, LeaseStore, LeasedEngine};
use super::operation::Operation;
use super::store::TxStore;
use super::transaction::TransactionSlot;

mod sealed {
    #[expect(unnameable_types, reason = "so that nobody else implements it")]
    pub trait Sealed {}
}

/// What runs the protected work of a service: an [`Engine`] or a [`LeasedEngine`].
///
/// Sealed: which of the two it is says which guarantee holds.
pub trait Execute: sealed::Sealed + Clone + Send + Sync + 'static {
    /// What the work gets, and a handler finds in the extensions of its request.
    type Handle: Clone + Send + Sync + 'static;

    /// Which guarantee holds.
    const GUARANTEE: Guarantee;

    /// Runs `work` unless the operation is done or running.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    fn execute<W, F, T>(
        &self,
        operation: Operation,
        fingerprint: Fingerprint,
        work: W,
    ) -> Execution<T>
    where
        W: FnOnce(Self::Handle) -> F + Send + 'static,
        F: Future<Output = Worked<T>> + Send + 'static,
        T: Send + 'static;
}

/// What holds for the effect of protected work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Guarantee {
    /// Effect, key and answer commit together: exactly once.
    Transactional,
    /// The effect is elsewhere: at least once or at most once, as the policy says.
    Leased,
}

impl<St> sealed::Sealed for Engine<St> {}

impl<St: TxStore> Execute for Engine<St> {
    type Handle = TransactionSlot<St::Tx>;

    const GUARANTEE: Guarantee = Guarantee::Transactional;

    fn execute<W, F, T>(
        &self,
        operation: Operation,
        fingerprint: Fingerprint,
        work: W,
    ) -> Execution<T>
    where
        W: FnOnce(Self::Handle) -> F + Send + 'static,
        F: Future<Output = Worked<T>> + Send + 'static,
        T: Send + 'static,
    {
        Self::execute(self, operation, fingerprint, work)
    }
}

impl<St, P> sealed::Sealed for LeasedEngine<St, P> {}

impl<St: LeaseStore, P: LeasePolicy> Execute for LeasedEngine<St, P> {
    type Handle = Lease;

    const GUARANTEE: Guarantee = Guarantee::Leased;

    fn execute<W, F, T>(
        &self,
        operation: Operation,
        fingerprint: Fingerprint,
        work: W,
    ) -> Execution<T>
    where
        W: FnOnce(Lease) -> F + Send + 'static,
        F: Future<Output = Worked<T>> + Send + 'static,
        T: Send + 'static,
    {
        Self::execute(self, operation, fingerprint, work)
    }
}
