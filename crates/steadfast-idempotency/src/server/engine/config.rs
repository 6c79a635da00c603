use std::time::Duration;

use crate::server::age::is_older;
use crate::server::clock::wall;
use crate::server::operation::Operation;
use crate::server::transaction::TransactionUse;

/// The knobs of an [`Engine`](super::Engine), or of a
/// [`LeasedEngine`](crate::server::leased::LeasedEngine).
///
/// ```
/// use std::time::Duration;
/// use steadfast_idempotency::server::{Conflict, EngineConfig, OldKeys, TransactionUse};
///
/// let config = EngineConfig::default();
/// assert_eq!(config.work_limit(), Duration::from_secs(30));
/// assert_eq!(config.store_timeout(), Duration::from_secs(5));
/// assert_eq!(config.retention(), Duration::from_secs(72 * 60 * 60));
/// assert_eq!(config.transaction_use(), TransactionUse::Required);
/// assert_eq!(config.conflict(), Conflict::Refuse);
/// assert_eq!(config.waiters(), 8);
/// assert_eq!(config.old_keys(), OldKeys::Refuse);
/// assert_eq!(config.lease(), Duration::from_secs(30));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineConfig {
    work_limit: Duration,
    store_timeout: Duration,
    retention: Duration,
    transaction_use: TransactionUse,
    conflict: Conflict,
    waiters: usize,
    old_keys: OldKeys,
    lease: Duration,
}

/// What a request is told whose key is running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Conflict {
    /// It is refused at once: 409, come back. The default.
    #[default]
    Refuse,
    /// It waits so long for the answer, and is refused after. A wait of 2 s suits most handlers.
    ///
    /// It holds no connection of the store while it waits: it is woken where the first request
    /// runs in this process, and looks again now and then where it runs in another.
    Wait(Duration),
}

/// What a key is that was made, as it says itself, before the retention began, and of which
/// nothing is kept.
///
/// Only UUIDs of version 7 (RFC 9562 §5.7), in their hyphenated form, say when they were made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OldKeys {
    /// Refused: its record may have been swept, so that running it may repeat it. The default.
    #[default]
    Refuse,
    /// A new operation: for keys made long before their first use, such as an order's own id.
    Run,
}

/// As long as a caller's whole call may take by default.
const WORK_LIMIT: Duration = Duration::from_secs(30);
/// SQLite's usual patience with another writer.
const STORE_TIMEOUT: Duration = Duration::from_secs(5);
/// Survives a weekend.
const RETENTION: Duration = Duration::from_secs(72 * 60 * 60);
/// A flood of repeats of one key is told to come back instead of being collected.
const WAITERS: usize = 8;
/// Outlasts two failed renewals and a pause of the machine; a dead owner blocks its key so long.
const LEASE: Duration = Duration::from_secs(30);

impl EngineConfig {
    /// Sets how long the handler may take, its body included, before it is dropped and rolled
    /// back. Default 30 s.
    #[must_use]
    pub const fn with_work_limit(mut self, limit: Duration) -> Self {
        self.work_limit = limit;
        self
    }

    /// Sets how long each step of the store may take before it counts as failed. Default 5 s.
    #[must_use]
    pub const fn with_store_timeout(mut self, timeout: Duration) -> Self {
        self.store_timeout = timeout;
        self
    }

    /// Sets how long an answer is kept at least. Default 72 h, at whole seconds in most stores.
    #[must_use]
    pub const fn with_retention(mut self, retention: Duration) -> Self {
        self.retention = retention;
        self
    }

    /// Sets whether a handler whose effect commits must have used the transaction. It must, by
    /// default.
    #[must_use]
    pub const fn with_transaction_use(mut self, transaction_use: TransactionUse) -> Self {
        self.transaction_use = transaction_use;
        self
    }

    /// Sets what a request is told whose key is running. Default: refused at once.
    #[must_use]
    pub const fn with_conflict(mut self, conflict: Conflict) -> Self {
        self.conflict = conflict;
        self
    }

    /// Sets how many requests may wait for one key in this process. Default 8; the next is
    /// refused at once.
    #[must_use]
    pub const fn with_waiters(mut self, waiters: usize) -> Self {
        self.waiters = waiters;
        self
    }

    /// Sets what a key is that is older than the retention. Default: refused.
    #[must_use]
    pub const fn with_old_keys(mut self, old_keys: OldKeys) -> Self {
        self.old_keys = old_keys;
        self
    }

    /// Sets how long a claim holds without renewal, in the leased mode alone. Default 30 s, at
    /// least 30 ms. It is renewed at a third of that while the handler works.
    #[must_use]
    pub const fn with_lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// How long the handler may take.
    pub const fn work_limit(&self) -> Duration {
        self.work_limit
    }

    /// How long each step of the store may take.
    pub const fn store_timeout(&self) -> Duration {
        self.store_timeout
    }

    /// How long an answer is kept at least.
    pub const fn retention(&self) -> Duration {
        self.retention
    }

    /// Whether a handler whose effect commits must have used the transaction.
    pub const fn transaction_use(&self) -> TransactionUse {
        self.transaction_use
    }

    /// What a request is told whose key is running.
    pub const fn conflict(&self) -> Conflict {
        self.conflict
    }

    /// How many requests may wait for one key in this process.
    pub const fn waiters(&self) -> usize {
        self.waiters
    }

    /// What a key is that is older than the retention.
    pub const fn old_keys(&self) -> OldKeys {
        self.old_keys
    }

    /// How long a claim holds without renewal.
    pub const fn lease(&self) -> Duration {
        self.lease
    }

    /// Whether the operation's key says that its record may be gone.
    pub(crate) fn forgot(&self, operation: &Operation) -> bool {
        self.old_keys == OldKeys::Refuse && is_older(operation.key(), wall(), self.retention)
    }
}

impl Default for EngineConfig {
    fn default() -> Self {
        Self {
            work_limit: WORK_LIMIT,
            store_timeout: STORE_TIMEOUT,
            retention: RETENTION,
            transaction_use: TransactionUse::Required,
            conflict: Conflict::Refuse,
            waiters: WAITERS,
            old_keys: OldKeys::Refuse,
            lease: LEASE,
        }
    }
}
