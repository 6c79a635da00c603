#![doc = include_str!("../README.md")]

mod account;
mod binary;
mod keeper;
mod postgres;
mod redis;

pub use postgres::Postgres;
pub use redis::Redis;
