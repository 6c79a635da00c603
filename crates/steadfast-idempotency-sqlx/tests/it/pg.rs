//! The PostgreSQL store on a server of the test run's own.

mod ledger;

pub(crate) use ledger::PgLedger;
