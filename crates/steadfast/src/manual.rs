//! The manual: what the front page has no room for.
//!
//! - [`order`]: the order of layers on clients and servers, and what each wrong one means.
//! - [`pairs`]: each layer with each other one, in both orders, and the test that shows it.
//! - [`defaults`]: every default, with its constant, its reason and its source.
//! - [`unsafe_operations`]: what must not simply be sent twice, and what makes it so that it may.
//! - [`glossary`]: one meaning for each word.
//! - [`comparison`]: what the neighbours do, with the versions that were read.
//! - [`why_not`]: questions about the design, and what was decided against.

#[doc = include_str!("../docs/order.md")]
///
/// The pairs as a type: [`Misordered`](crate::order::Misordered).
pub mod order {}

#[doc = include_str!("../docs/pairs.md")]
pub mod pairs {}

#[doc = include_str!("../docs/defaults.md")]
pub mod defaults {}

#[doc = include_str!("../docs/unsafe_operations.md")]
pub mod unsafe_operations {}

#[doc = include_str!("../docs/glossary.md")]
pub mod glossary {}

#[doc = include_str!("../docs/comparison.md")]
pub mod comparison {}

#[doc = include_str!("../docs/why_not.md")]
pub mod why_not {}
