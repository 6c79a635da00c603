use std::time::Duration;

use crate::server::transaction::TransactionUse;

/// The knobs of an [`Engine`](super::Engine).
///
/// ```
/// use std::time::Duration;
/// use steadfast_idempotency::server::{EngineConfig, TransactionUse};
///
/// let config = EngineConfig::default();
/// assert_eq!(config.work_limit(), Duration::from_secs(30));
/// assert_eq!(config.store_timeout(), Duration::from_secs(5));
/// assert_eq!(config.retention(), Duration::from_secs(72 * 60 * 60));
/// assert_eq!(config.transaction_use(), TransactionUse::Required);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineConfig {
    work_limit: Duration,
    store_timeout: Duration,
    retention: Duration,
    transaction_use: TransactionUse,
}

/// As long as a caller's whole call may take by default.
const WORK_LIMIT: Duration = Duration::from_secs(30);
/// SQLite's usual patience with another writer.
const STORE_TIMEOUT: Duration = Duration::from_secs(5);
/// Survives a weekend.
const RETENTION: Duration = Duration::from_secs(72 * 60 * 60);

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
}

impl Default for EngineConfig {
    fn default() -> Self {
        Self {
            work_limit: WORK_LIMIT,
            store_timeout: STORE_TIMEOUT,
            retention: RETENTION,
            transaction_use: TransactionUse::Required,
        }
    }
}
