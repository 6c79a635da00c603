//! The PostgreSQL store on a server of the test run's own.

mod begin;
mod faults;
mod handlers;
mod leases;
mod ledger;
mod lost;
mod outbox;
mod primary_key;
mod proxy;
mod races;
mod restarts;
mod sweep;

pub(crate) use ledger::PgLedger;
