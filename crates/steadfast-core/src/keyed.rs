//! State per key, in bounded memory.

use std::borrow::Borrow;
use std::fmt;
use std::hash::Hash;
use std::num::NonZeroU32;
use std::sync::{OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::DestinationKey;
use crate::sync::{Mutex, MutexGuard};

pub(crate) mod hash;
mod in_use;
mod lru;

use in_use::share;
use lru::Lru;

/// Keys that are remembered at most: 10,000, more destinations than one process has.
pub const DEFAULT_MAX_KEYS: NonZeroU32 = NonZeroU32::new(10_000).expect("10,000 is not zero");
/// The time without use after which a key is forgotten: 5 minutes, longer than any default
/// window of ours.
pub const DEFAULT_IDLE: Duration = Duration::from_secs(5 * 60);

/// One value per key, for state that belongs to a destination, an endpoint or a tenant.
///
/// Memory is bounded, whoever chooses the keys: at most [`max_keys`](Self::max_keys) entries,
/// each within [`Self::BYTES_PER_ENTRY`] plus what key and value own elsewhere. A key that was
/// not used for [`idle`](Self::idle) starts anew on its next use, and is dropped when some other
/// key of its shard is used: nothing runs in the background. Where all places are taken, the key
/// that was used least recently makes room, and starts anew if it ever returns.
///
/// The keys lie in up to 16 shards, each with its share of the places and an order of its own;
/// a registry of fewer than 8,192 keys has fewer, so that a share is never below 512. A shard
/// may therefore be full while others have room. A use takes its shard's lock for a lookup and
/// five writes; values are made and dropped outside of it. Values are handed out as clones:
/// use an [`Arc`](std::sync::Arc) or another handle. A value that is still held lives on after
/// its key was forgotten.
///
/// ```
/// use std::num::NonZeroU32;
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use std::time::{Duration, Instant};
/// use steadfast_core::keyed::Keyed;
///
/// let calls: Keyed<Box<str>, Arc<AtomicU32>> = Keyed::new();
/// assert_eq!(calls.max_keys().get(), 10_000);
/// assert_eq!(calls.idle(), Duration::from_secs(300));
///
/// # #[allow(clippy::disallowed_methods)]
/// let now = Instant::now();
/// calls.get_or_insert_with("a.example", now, Arc::default).fetch_add(1, Ordering::Relaxed);
/// let again = calls.get_or_insert_with("a.example", now, Arc::default);
/// assert_eq!(again.load(Ordering::Relaxed), 1);
/// ```
pub struct Keyed<K, V> {
    bounds: Mutex<(NonZeroU32, Duration)>,
    origin: OnceLock<Instant>,
    /// A power of two of them.
    shards: Box<[Shard<K, V>]>,
}

/// Alone in its cache line, so that two threads on two shards do not wait for each other.
#[repr(align(64))]
struct Shard<K, V>(Mutex<Lru<K, V>>);

const MAX_SHARDS: u32 = 16;
const LEAST_SHARE: u32 = 512;

impl<K, V> Default for Keyed<K, V> {
    fn default() -> Self {
        Self::with_parts(DEFAULT_MAX_KEYS, DEFAULT_IDLE)
    }
}

impl<K, V> Keyed<K, V> {
    /// What one entry takes at most, besides what `K` and `V` own elsewhere: twice a place in
    /// the list, since lists grow by doubling, and 24 bytes of the index.
    pub const BYTES_PER_ENTRY: usize = 2 * Lru::<K, V>::PLACE + 24;

    /// An empty registry of [`DEFAULT_MAX_KEYS`] and [`DEFAULT_IDLE`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how many keys are remembered at most. Default: [`DEFAULT_MAX_KEYS`]. Starts empty.
    #[must_use]
    pub fn with_max_keys(self, max_keys: NonZeroU32) -> Self {
        Self::with_parts(max_keys, self.idle())
    }

    /// Sets the time without use after which a key is forgotten; `Duration::MAX` is for ever.
    /// Default: [`DEFAULT_IDLE`]. Starts empty.
    ///
    /// Shorter than the time over which a value counts, it makes the value forget what it must
    /// remember.
    #[must_use]
    pub fn with_idle(self, idle: Duration) -> Self {
        Self::with_parts(self.max_keys(), idle)
    }

    fn with_parts(max_keys: NonZeroU32, idle: Duration) -> Self {
        let max = max_keys.get();
        let wanted = (max / LEAST_SHARE).clamp(1, MAX_SHARDS);
        // The highest power of two in it.
        let count = 1 << wanted.ilog2();
        let share = |nth| share(max, count, nth);
        let shards = (0..count).map(|nth| Shard(Mutex::new(Lru::of(share(nth), nanos(idle)))));
        Self {
            bounds: Mutex::new((max_keys, idle)),
            origin: OnceLock::new(),
            shards: shards.collect(),
        }
    }

    /// How many keys are remembered at most.
    pub fn max_keys(&self) -> NonZeroU32 {
        self.bounds().0
    }

    /// The time without use after which a key is forgotten.
    pub fn idle(&self) -> Duration {
        self.bounds().1
    }

    /// How many keys are remembered, idle ones that nobody has come across included.
    pub fn len(&self) -> usize {
        let of = |shard: &Shard<K, V>| shard.with(|lru| lru.len());
        self.shards.iter().map(of).sum()
    }

    /// Whether no key is remembered.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn bounds(&self) -> MutexGuard<'_, (NonZeroU32, Duration)> {
        self.bounds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Hash + Eq, V: Clone> Keyed<K, V> {
    /// The value of this key, made by `make` if there is none. A known key is looked up in its
    /// borrowed form, without an allocation.
    ///
    /// `now` may go back a little between threads. `make` may run although another thread's
    /// value is used in the end. It may use this registry.
    pub fn get_or_insert_with<Q>(&self, key: &Q, now: Instant, make: impl FnOnce() -> V) -> V
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned: Into<K>> + ?Sized,
    {
        let is = |known: &K| known.borrow() == key;
        self.get_or_insert_hashed(hash::of(key), is, || key.to_owned().into(), now, make)
    }

    /// The value of a destination; see [`get_or_insert_with`](Self::get_or_insert_with).
    #[inline]
    pub fn get_or_insert_at(
        &self,
        destination: &DestinationKey<'_>,
        now: Instant,
        make: impl FnOnce() -> V,
    ) -> V
    where
        K: Borrow<str> + for<'a> From<&'a str>,
    {
        let name = destination.as_str();
        let is = |known: &K| known.borrow() == name;
        self.get_or_insert_hashed(destination.hash(), is, || name.into(), now, make)
    }

    /// The value of this key, if it is remembered and not idle at `now`. That is no use of it, and
    /// makes nothing.
    pub fn peek<Q>(&self, key: &Q, now: Instant) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let hash = hash::of(key);
        let now = self.nanos(now);
        let shard = self.shard(hash);
        shard.with(|lru| lru.peek(hash, |known| known.borrow() == key, now))
    }

    fn shard(&self, hash: u64) -> &Shard<K, V> {
        // The lower bits choose the place within a shard, and the uppermost ones its tag there.
        &self.shards[(hash >> 32) as usize & (self.shards.len() - 1)]
    }

    /// [`Self::get_or_insert_with`] for a borrowed form that no `Borrow` can express: it must hash
    /// as `K` does.
    pub(crate) fn get_or_insert_hashed(
        &self,
        hash: u64,
        is: impl Fn(&K) -> bool,
        to_owned: impl FnOnce() -> K,
        now: Instant,
        make: impl FnOnce() -> V,
    ) -> V {
        let hash_of = |known: &K| hash::of(known);
        let shard = self.shard(hash);
        let now = self.nanos(now);
        // Whatever is let go is dropped at the end of this function, after the lock.
        let (found, _idle) = shard.with(|lru| lru.find(hash, &is, now, hash_of));
        if let Some(value) = found {
            return value;
        }
        let new = make();
        let mut entry = Some((to_owned(), new.clone()));
        let (of_another_thread, _idle, _oldest) = shard.with(|lru| {
            let (found, idle) = lru.find(hash, &is, now, hash_of);
            let entry = if found.is_none() { entry.take() } else { None };
            let oldest = entry.and_then(|entry| lru.insert(hash, entry, now, hash_of));
            (found, idle, oldest)
        });
        of_another_thread.unwrap_or(new)
    }

    fn nanos(&self, now: Instant) -> u64 {
        let origin = *self.origin.get_or_init(|| now);
        nanos(now.saturating_duration_since(origin))
    }
}

/// 584 years of them fit.
fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl<K, V> Shard<K, V> {
    fn with<R>(&self, f: impl FnOnce(&mut Lru<K, V>) -> R) -> R {
        // A key's `Eq` or `Hash`, or a value's `Clone`, may have panicked: every step of the
        // list leaves it whole.
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<K, V> fmt::Debug for Keyed<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyed")
            .field("max_keys", &self.max_keys())
            .field("idle", &self.idle())
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
