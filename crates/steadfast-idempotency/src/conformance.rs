//! The promises of stores, each tried on one. Feature `conformance`.

pub mod leases;
