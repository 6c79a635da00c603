//! Messages that are sent because a transaction committed, and not otherwise.
//!
//! A handler in a transaction must not call another service: a rollback does not reach it. It writes
//! a [`Message`] into a table of the same database instead, which commits with its effect, its key
//! and its answer. A [`Relay`] sends what was committed, with the key and the bytes that were
//! stored, until the other side has it: at least once, so that side recognises the key, by a layer
//! like ours for one.
//!
//! ```text
//! handler     effect + message + key + answer ── one commit
//! relay       take (counts the attempt) ── send ── mark
//!                   a crash here sends nothing, or sends the same key and bytes again
//! ```
//!
//! Tables are a store's business: `steadfast-idempotency-sqlx` has one for SQLite.

use std::fmt;
use std::future::Future;
use std::time::Duration;

use bytes::Bytes;

use super::store::StoreError;
use crate::OperationKey;

mod config;
mod relay;

pub use config::RelayConfig;
pub use relay::{Relay, Relayed, Sending};

/// What is to be sent, complete: nothing is rendered again when it is sent again.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message {
    /// Where it goes, in the application's own words. Two messages of one topic never have the same
    /// key.
    pub topic: String,
    /// The key it is sent with, every time: a [`child`](super::Operation::child) of the operation.
    pub key: OperationKey,
    /// The bytes that are sent, every time.
    pub body: Bytes,
}

impl Message {
    /// A message.
    pub fn new(topic: impl Into<String>, key: OperationKey, body: impl Into<Bytes>) -> Self {
        Self {
            topic: topic.into(),
            key,
            body: body.into(),
        }
    }
}

/// Keys and bodies may be secrets.
impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message")
            .field("topic", &self.topic)
            .field("body", &self.body.len())
            .finish_non_exhaustive()
    }
}

/// A message on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dispatch {
    /// Its place in the table.
    pub id: i64,
    /// How often it was taken, this time included. Above 1 the other side may have it already.
    pub attempt: u32,
    /// What is sent.
    pub message: Message,
}

impl Dispatch {
    /// For tables, which number and count.
    pub const fn new(id: i64, attempt: u32, message: Message) -> Self {
        Self {
            id,
            attempt,
            message,
        }
    }
}

/// A table of messages. Each method is one transaction; times go by the table's own clock.
pub trait Outbox: Clone + Send + Sync + 'static {
    /// The oldest message that is due, for so long; it is due again after. The attempt is counted
    /// before it is given, so that one that kills its sender is counted too.
    fn take(
        &self,
        lease: Duration,
    ) -> impl Future<Output = Result<Option<Dispatch>, StoreError>> + Send;

    /// It arrived. True whoever says so, also late: it is never sent after this.
    fn sent(&self, dispatch: &Dispatch) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// It is due again after this time, unless somebody else has taken it since.
    fn postpone(
        &self,
        dispatch: &Dispatch,
        wait: Duration,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// It is not sent any more and kept for people to look at, unless somebody else has taken it
    /// since.
    fn bury(&self, dispatch: &Dispatch) -> impl Future<Output = Result<(), StoreError>> + Send;
}
