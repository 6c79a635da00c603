//! What tonic-prost-build 0.14 makes of `greeter.proto`: made once and kept, so that no build needs
//! a protobuf compiler. `protox::compile` and `tonic_prost_build::configure().build_transport(false)`
//! make it again.

#[allow(
    missing_debug_implementations,
    missing_docs,
    unreachable_pub,
    unused_qualifications,
    clippy::all
)]
#[rustfmt::skip]
mod generated;

pub use generated::*;
