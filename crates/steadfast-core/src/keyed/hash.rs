//! How keys are hashed: alike in all registries, so that one hash serves several.

use std::hash::{BuildHasher, Hash};
use std::sync::OnceLock;

use foldhash::quality::RandomState;

/// Seeded once a process. A fast hash instead of SipHash: who could make keys collide all the same
/// gains little, since a shard holds a few hundred keys and never more.
pub(crate) fn of(key: impl Hash) -> u64 {
    static SEEDED: OnceLock<RandomState> = OnceLock::new();
    SEEDED.get_or_init(RandomState::default).hash_one(key)
}
