use std::fmt;

/// Which claim of an operation this is: each later one has a larger number.
///
/// A downstream that remembers the largest fence it has seen of an operation, and refuses smaller
/// ones, is safe from an owner that lost its lease and does not know yet. A store never gives a
/// fence twice, also not after a release, an expiry or a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fence(u64);

impl Fence {
    /// The fence with this number: for stores, which count.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number, below 2^53 in every store of this project.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
