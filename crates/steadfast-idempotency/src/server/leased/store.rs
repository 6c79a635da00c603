use std::future::Future;

use super::claim::{Claim, Claimed, Fenced, Seen, Terms};
use super::fence::Fence;
use crate::server::operation::Operation;
use crate::server::record::Record;
use crate::server::store::StoreError;

/// A store of leases: who runs an operation now, and what came of those that ran.
///
/// Each method is one atomic change, by the store's own clock. Fences grow with every claim of an
/// operation, also over releases, expiries and sweeps. A change names the fence of its claim and
/// is rejected once there is a later one; said twice it is accepted twice, because the first
/// answer may have been lost. A record is one entry that lives [`Terms::lifetime`] from its last
/// change, whatever its state: lease and answer never expire apart.
///
/// The engine drops any of these futures at its time limit. A store that cannot answer says
/// [`StoreError`]; it never lets a claim through.
pub trait LeaseStore: Clone + Send + Sync + 'static {
    /// Claims the operation, or says why not.
    fn claim(
        &self,
        operation: &Operation,
        claim: &Claim,
    ) -> impl Future<Output = Result<Claimed, StoreError>> + Send;

    /// Holds on for another lease, counted from now.
    fn renew(
        &self,
        operation: &Operation,
        fence: Fence,
        terms: Terms,
    ) -> impl Future<Output = Result<Fenced, StoreError>> + Send;

    /// Keeps the answer; also of an operation that was unknown.
    fn complete(
        &self,
        operation: &Operation,
        fence: Fence,
        record: &Record,
        terms: Terms,
    ) -> impl Future<Output = Result<Fenced, StoreError>> + Send;

    /// Frees the operation, because nothing happened; also one that was unknown.
    fn release(
        &self,
        operation: &Operation,
        fence: Fence,
        terms: Terms,
    ) -> impl Future<Output = Result<Fenced, StoreError>> + Send;

    /// Marks the outcome as unknown.
    fn abandon(
        &self,
        operation: &Operation,
        fence: Fence,
        terms: Terms,
    ) -> impl Future<Output = Result<Fenced, StoreError>> + Send;

    /// What is kept, by a plain read. None: never claimed, released, or forgotten.
    fn find(
        &self,
        operation: &Operation,
    ) -> impl Future<Output = Result<Option<Seen>, StoreError>> + Send;
}
