//! What can be changed while a registry is in use.

use std::hash::Hash;
use std::num::NonZeroU32;
use std::time::Duration;

use super::{Keyed, hash, nanos};

impl<K, V> Keyed<K, V> {
    /// Looks at every key and its value, idle ones that nobody has come across included, and may
    /// put another value in its place. The order says nothing, and no key counts as used.
    ///
    /// `f` runs under a shard's lock: it must not use this registry, nor drop what might.
    pub fn for_each(&self, mut f: impl FnMut(&K, &mut V)) {
        for shard in &self.shards {
            shard.with(|lru| lru.for_each(&mut f));
        }
    }
}

impl<K: Hash + Eq, V: Clone> Keyed<K, V> {
    /// Sets how many keys are remembered at most and the time without use after which one is
    /// forgotten, of a registry that is in use. Where there are too many now, those that were used
    /// least recently are forgotten.
    ///
    /// The shards stay as many as they were made for the first bound: each has one place at
    /// least, so that up to 16 keys are remembered where fewer were asked for.
    pub fn set_bounds(&self, max_keys: NonZeroU32, idle: Duration) {
        // Held to the end, so that of two threads one sets all shards after the other.
        let mut bounds = self.bounds();
        *bounds = (max_keys, idle);
        let count = self.shards.len() as u32;
        let mut gone = Vec::new();
        for (nth, shard) in self.shards.iter().enumerate() {
            let share = share(max_keys.get(), count, nth as u32);
            let hash_of = |known: &K| hash::of(known);
            gone.extend(shard.with(|lru| lru.set_bounds(share, nanos(idle), hash_of)));
        }
        drop(bounds);
        drop(gone);
    }
}

/// The places of the `nth` of `count` shards.
pub(super) fn share(max: u32, count: u32, nth: u32) -> u32 {
    (max / count + u32::from(nth < max % count)).max(1)
}
