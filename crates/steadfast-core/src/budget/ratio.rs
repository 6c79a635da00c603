use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::{Budget, Ending, GiveBack, Permit, Sending};
use crate::Ratio;

/// Retries per call: one in ten, the per-client budget of the SRE book.
pub const DEFAULT_RATIO: Ratio = Ratio::from_millionths(100_000);
/// The time over which calls and retries are counted: 10 s.
pub const DEFAULT_WINDOW: Duration = Duration::from_secs(10);

/// The window in so many steps; it slides by one.
const BUCKETS: usize = 10;
/// Below this a step would be shorter than timers resolve.
const MIN_BUCKET: Duration = Duration::from_millis(10);

/// A retry is allowed while `retries < ratio × calls`, both counted over a sliding window.
///
/// Bound: at every reservation the retries of the window are at most
/// `max(⌈ratio × calls⌉, ⌈minimum × window⌉)`, exact for every ratio and under threads. The
/// first call of a quiet client gets its retry already, because `0 < ratio × 1`; a minimum per
/// second lets a small client have more, and multiplies by the number of clients.
///
/// The success path adds one to an atomic. Nothing is remembered longer than the window, and an
/// idle time of any length costs nothing.
///
/// ```
/// use std::time::{Duration, Instant};
/// use steadfast_core::Ratio;
/// use steadfast_core::budget::{Budget, RatioBudget};
///
/// let budget = RatioBudget::default();
/// assert_eq!(budget.ratio(), Ratio::percent(10)?);
/// assert_eq!(budget.window(), Duration::from_secs(10));
/// assert_eq!(budget.minimum_per_second(), Ratio::ZERO);
///
/// # #[allow(clippy::disallowed_methods)]
/// let now = Instant::now();
/// for _ in 0..15 {
///     budget.on_call(now);
/// }
/// budget.reserve(1, now).unwrap().spend();
/// budget.reserve(1, now).unwrap().spend();
/// assert!(budget.reserve(1, now).is_none(), "⌈0.1 × 15⌉ = 2");
/// # Ok::<(), steadfast_core::InvalidRatio>(())
/// ```
#[derive(Clone, Debug)]
pub struct RatioBudget(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    ratio: Ratio,
    minimum_per_second: Ratio,
    bucket: Duration,
    origin: OnceLock<Instant>,
    calls: [AtomicU64; BUCKETS],
    retries: Mutex<[Count; BUCKETS]>,
}

/// How often something happened in one step of the window.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    epoch: u32,
    count: u32,
}

impl Default for RatioBudget {
    fn default() -> Self {
        Self::new(DEFAULT_RATIO)
    }
}

impl RatioBudget {
    /// A budget of this many retries per call, over [`DEFAULT_WINDOW`], without a minimum.
    pub fn new(ratio: Ratio) -> Self {
        Self::with_parts(ratio, Ratio::ZERO, DEFAULT_WINDOW / BUCKETS as u32)
    }

    /// The same ratio, with this many retries per second allowed in any case. Starts empty.
    #[must_use]
    pub fn with_minimum_per_second(self, minimum: Ratio) -> Self {
        Self::with_parts(self.0.ratio, minimum, self.0.bucket)
    }

    /// The same ratio over another window; shorter than 100 ms counts as 100 ms. Starts empty.
    #[must_use]
    pub fn with_window(self, window: Duration) -> Self {
        let bucket = (window / BUCKETS as u32).max(MIN_BUCKET);
        Self::with_parts(self.0.ratio, self.0.minimum_per_second, bucket)
    }

    fn with_parts(ratio: Ratio, minimum_per_second: Ratio, bucket: Duration) -> Self {
        Self(Arc::new(Shared {
            ratio,
            minimum_per_second,
            bucket,
            origin: OnceLock::new(),
            calls: Default::default(),
            retries: Mutex::default(),
        }))
    }

    /// Retries per call.
    pub fn ratio(&self) -> Ratio {
        self.0.ratio
    }

    /// Retries per second that are allowed in any case.
    pub fn minimum_per_second(&self) -> Ratio {
        self.0.minimum_per_second
    }

    /// The time over which calls and retries are counted.
    pub fn window(&self) -> Duration {
        self.0.window()
    }
}

impl Budget for RatioBudget {
    fn on_call(&self, now: Instant) {
        let epoch = self.0.epoch(now);
        let slot = &self.0.calls[epoch as usize % BUCKETS];
        let mut seen = slot.load(Ordering::Relaxed);
        loop {
            let next = Count::unpack(seen).add_at(epoch, 1).pack();
            match slot.compare_exchange_weak(seen, next, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return,
                Err(other) => seen = other,
            }
        }
    }

    fn on_outcome(&self, _: Sending, _: Ending, _: Instant) {}

    fn reserve(&self, cost: u32, now: Instant) -> Option<Permit> {
        let epoch = self.0.epoch(now);
        let mut retries = self.0.lock_retries();
        let calls = self
            .0
            .calls
            .iter()
            .map(|slot| Count::unpack(slot.load(Ordering::Relaxed)));
        let calls: u64 = calls.map(|count| count.seen_from(epoch)).sum();
        let made: u64 = retries.iter().map(|count| count.seen_from(epoch)).sum();
        if made + u64::from(cost) > self.0.limit(calls) {
            return None;
        }
        let slot = &mut retries[epoch as usize % BUCKETS];
        *slot = slot.add_at(epoch, cost);
        let permit = Permit::new(self.0.clone(), cost, slot.epoch.into());
        Some(permit)
    }
}

impl GiveBack for Shared {
    fn give_back(&self, cost: u32, epoch: u64) {
        let mut retries = self.lock_retries();
        let slot = &mut retries[epoch as usize % BUCKETS];
        if u64::from(slot.epoch) == epoch {
            slot.count = slot.count.saturating_sub(cost);
        }
    }
}

impl Shared {
    fn window(&self) -> Duration {
        self.bucket.saturating_mul(BUCKETS as u32)
    }

    /// ⌈max(ratio × calls, minimum × window)⌉
    fn limit(&self, calls: u64) -> u64 {
        let window_nanos = self.window().as_nanos().min(u64::MAX.into());
        let minimum = u128::from(self.minimum_per_second.as_millionths()) * window_nanos;
        let minimum = minimum.div_ceil(1_000_000 * 1_000_000_000);
        self.ratio.ceil_of(calls).max(minimum as u64)
    }

    /// The step of the window that `now` falls into. Wraps after 500 days of the shortest step,
    /// which differences survive.
    fn epoch(&self, now: Instant) -> u32 {
        let origin = *self.origin.get_or_init(|| now);
        let since = now.saturating_duration_since(origin);
        (since.as_nanos() / self.bucket.as_nanos()) as u32
    }

    fn lock_retries(&self) -> MutexGuard<'_, [Count; BUCKETS]> {
        // Nothing under this lock can panic half way.
        self.retries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Count {
    fn unpack(packed: u64) -> Self {
        Self {
            epoch: (packed >> 32) as u32,
            count: packed as u32,
        }
    }

    fn pack(self) -> u64 {
        u64::from(self.epoch) << 32 | u64::from(self.count)
    }

    /// Counts `n` more at `epoch`. What is older is forgotten; a thread whose clock reading is
    /// older than the step it finds counts there.
    fn add_at(self, epoch: u32, n: u32) -> Self {
        if self.epoch == epoch || self.is_newer_than(epoch) {
            Self {
                count: self.count.saturating_add(n),
                ..self
            }
        } else {
            Self { epoch, count: n }
        }
    }

    /// The count, while the step lies in the window that ends at `epoch`.
    fn seen_from(self, epoch: u32) -> u64 {
        let in_window = epoch.wrapping_sub(self.epoch) < BUCKETS as u32;
        if in_window || self.is_newer_than(epoch) {
            self.count.into()
        } else {
            0
        }
    }

    fn is_newer_than(self, epoch: u32) -> bool {
        let ahead = self.epoch.wrapping_sub(epoch);
        ahead != 0 && ahead < BUCKETS as u32
    }
}

#[cfg(test)]
mod tests;
