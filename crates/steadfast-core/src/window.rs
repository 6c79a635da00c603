//! Counts over a window of time that slides in steps: for budgets, breakers and the like.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::sync::atomic::{AtomicU64, Ordering};

/// A time cut into steps, counted from the first reading of the clock.
#[derive(Debug)]
pub struct Steps {
    step: Duration,
    /// 2⁶⁴ by the nanoseconds of a step, rounded up: a division would be the dearest thing on the
    /// way of a call.
    per_nano: u64,
    origin: OnceLock<Instant>,
}

/// Below this a step would be shorter than timers resolve.
const MIN_STEP: Duration = Duration::from_millis(10);

impl Steps {
    /// Steps of a tenth of `time`, at least 10 ms each.
    pub fn tenths_of(time: Duration) -> Self {
        let step = (time / 10).max(MIN_STEP);
        Self {
            step,
            per_nano: u64::MAX / nanos(step) + 1,
            origin: OnceLock::new(),
        }
    }

    /// Ten steps.
    pub fn ten(&self) -> Duration {
        self.step.saturating_mul(10)
    }

    /// The step that `now` falls into. A step begins on time, or early by less than a millionth of
    /// the time since the first reading, for steps of up to five hours. Wraps after 500 days of the shortest step, which
    /// differences survive.
    #[inline]
    pub fn at(&self, now: Instant) -> u32 {
        let origin = *self.origin.get_or_init(|| now);
        let since = nanos(now.saturating_duration_since(origin));
        ((u128::from(since) * u128::from(self.per_nano)) >> 64) as u32
    }
}

/// In 64 bits, which last for 500 years.
fn nanos(time: Duration) -> u64 {
    time.as_secs()
        .saturating_mul(1_000_000_000)
        .saturating_add(time.subsec_nanos().into())
}

/// How often something happened in one step.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    step: u32,
    count: u32,
}

impl Count {
    fn unpack(packed: u64) -> Self {
        Self {
            step: (packed >> 32) as u32,
            count: packed as u32,
        }
    }

    fn pack(self) -> u64 {
        u64::from(self.step) << 32 | u64::from(self.count)
    }

    /// Counts one more at `step`. What is older is forgotten; a thread whose clock reading is
    /// older than the step it finds counts there.
    fn one_more(self, step: u32, steps: u32) -> Self {
        if self.step == step || self.is_newer_than(step, steps) {
            Self {
                count: self.count.saturating_add(1),
                ..self
            }
        } else {
            Self { step, count: 1 }
        }
    }

    /// The count, while its step lies in the window of so many steps that ends at `step`.
    fn seen_from(self, step: u32, steps: u32) -> u64 {
        let in_window = step.wrapping_sub(self.step) < steps;
        if in_window || self.is_newer_than(step, steps) {
            self.count.into()
        } else {
            0
        }
    }

    fn is_newer_than(self, step: u32, steps: u32) -> bool {
        let ahead = self.step.wrapping_sub(step);
        ahead != 0 && ahead < steps
    }
}

/// Counts of the last `N` steps, for use under a lock.
#[derive(Debug)]
pub struct Window<const N: usize>([Count; N]);

impl<const N: usize> Default for Window<N> {
    fn default() -> Self {
        Self([Count::default(); N])
    }
}

impl<const N: usize> Window<N> {
    /// A window that holds nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// What was counted in the last `N` steps, `step` included.
    pub fn total(&self, step: u32) -> u64 {
        self.0
            .iter()
            .map(|count| count.seen_from(step, N as u32))
            .sum()
    }

    /// Counts one; answers where, for [`take_back`](Self::take_back).
    pub fn add(&mut self, step: u32) -> u64 {
        let slot = &mut self.0[step as usize % N];
        *slot = slot.one_more(step, N as u32);
        slot.step.into()
    }

    /// Uncounts one, if its step is still there.
    pub fn take_back(&mut self, step: u64) {
        let slot = &mut self.0[step as usize % N];
        if u64::from(slot.step) == step {
            slot.count = slot.count.saturating_sub(1);
        }
    }
}

/// Counts of the last `N` steps, without a lock.
///
/// Of two threads that each count and then look at a total, one at least sees what both have
/// counted.
#[derive(Debug)]
pub struct AtomicWindow<const N: usize>([AtomicU64; N]);

impl<const N: usize> Default for AtomicWindow<N> {
    fn default() -> Self {
        Self(std::array::from_fn(|_| AtomicU64::new(0)))
    }
}

impl<const N: usize> AtomicWindow<N> {
    /// A window that holds nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// What was counted in the last `N` steps, `step` included.
    pub fn total(&self, step: u32) -> u64 {
        let counts = self
            .0
            .iter()
            .map(|slot| Count::unpack(slot.load(Ordering::SeqCst)));
        counts.map(|count| count.seen_from(step, N as u32)).sum()
    }

    /// Counts one, and answers how many there are in its place then. A thread whose step is older
    /// than what it finds in its place counts there.
    #[inline]
    pub fn add(&self, step: u32) -> u32 {
        // Nearly always its place is its own, or newer by the time it is counted there. Far below
        // the most that a count can be, so that all threads together do not pass that.
        let slot = &self.0[step as usize % N];
        let seen = Count::unpack(slot.load(Ordering::Relaxed));
        if seen.step == step && seen.count < u32::MAX / 2 {
            return Count::unpack(slot.fetch_add(1, Ordering::SeqCst)).count + 1;
        }
        self.change(step, |count| count.one_more(step, N as u32))
    }

    /// Uncounts one of this step, or of the one that has taken its place.
    pub fn take_back(&self, step: u32) {
        self.change(step, |count| Count {
            count: count.count.saturating_sub(1),
            ..count
        });
    }

    fn change(&self, step: u32, change: impl Fn(Count) -> Count) -> u32 {
        let slot = &self.0[step as usize % N];
        let mut seen = slot.load(Ordering::Relaxed);
        loop {
            let next = change(Count::unpack(seen));
            let packed = next.pack();
            match slot.compare_exchange_weak(seen, packed, Ordering::SeqCst, Ordering::Relaxed) {
                Ok(_) => return next.count,
                Err(other) => seen = other,
            }
        }
    }
}
