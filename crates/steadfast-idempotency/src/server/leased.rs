//! Leases, for effects outside the database: a call to a payment provider, a message, a file.
//!
//! No store can commit together with such an effect, so a process that dies between the two leaves
//! an outcome that nobody knows. The policy is a type, because the question must be answered:
//! [`Reentrant`] runs the work again, [`AtMostOnce`] does not until it is known.
//!
//! ```
//! use std::num::NonZeroUsize;
//!
//! use steadfast_idempotency::server::IdempotencyConfig;
//! use steadfast_idempotency::server::leased::{AtMostOnce, LeasedLayer, MemoryLeaseStore};
//!
//! let store = MemoryLeaseStore::new(NonZeroUsize::new(10_000).unwrap());
//! let config = IdempotencyConfig::new(|_| Some("the only caller"));
//! let layer = LeasedLayer::new(store, AtMostOnce::new(), config);
//! # let _ = layer;
//! ```
//!
//! The handler finds its [`Lease`] in the extensions of its request.

mod claim;
mod counts;
mod engine;
mod fence;
mod layer;
mod lease;
mod machine;
mod memory;
mod policy;
mod renewal;
mod resolver;
mod run;
mod store;

pub use claim::{Claim, ClaimId, Claimed, Fenced, OnExpired, Seen, Terms};
pub use counts::LeaseCounts;
pub use engine::LeasedEngine;
pub use fence::Fence;
pub use layer::{Leased, LeasedLayer};
pub use lease::Lease;
pub use memory::MemoryLeaseStore;
pub use policy::{AtMostOnce, LeasePolicy, Reentrant};
pub use resolver::{NoResolver, Resolution, Resolver, UnknownOutcome};
pub use store::LeaseStore;
