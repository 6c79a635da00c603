#![doc = include_str!("../README.md")]

mod account;
mod binary;
mod keeper;
mod pgbouncer;
mod postgres;
mod redis;

pub use pgbouncer::PgBouncer;
pub use postgres::Postgres;
pub use redis::Redis;
