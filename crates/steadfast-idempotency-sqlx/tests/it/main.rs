//! The stores on real files and servers, in one process and across processes that are killed.
#![allow(clippy::unwrap_used, reason = "tests, and what tests are made of")]

mod by_hand;
mod conformance;
mod contention;
mod expiry;
mod field_cases;
mod kill;
mod ledger;
mod outbox;
mod pg;
mod protected;
