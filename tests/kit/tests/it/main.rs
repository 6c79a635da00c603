//! The kit shows that it catches what it is there to catch.

mod bodies;
mod drops;
mod probes;
mod proxies;
mod servers;
