#![doc = include_str!("../README.md")]

mod body;
mod causes;
mod classify;
mod leaf;

pub use body::LeafBody;
pub use classify::HyperClassify;
pub use leaf::{Leaf, LeafLayer};
