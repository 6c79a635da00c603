use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use super::{Ask, Budget, Ending, Permit, Sending, Settle, Used, open_to};
use crate::Ratio;
use crate::sync::atomic::{AtomicU32, Ordering};
use crate::sync::{Mutex, MutexGuard};
use crate::window::{AtomicWindow, Steps, Window};

/// Retries per call: one in ten, the per-client budget of the SRE book.
pub const DEFAULT_RATIO: Ratio = Ratio::from_millionths(100_000);
/// The time over which calls and retries are counted: 10 s.
pub const DEFAULT_WINDOW: Duration = Duration::from_secs(10);

/// The window in so many steps; it slides by one.
const STEPS: usize = 10;

/// No step was seen yet, or this one, which comes after more than a year and is seen anew then.
const UNSEEN: u32 = u32::MAX;

/// One in so many calls that are counted without the time asks for it.
const UNDATED: u32 = 16;

/// A retry is allowed while `retries < ratio × calls`, both counted over a sliding window.
///
/// Bound: at every reservation the retries of the window are at most
/// `max(⌈ratio × max(calls, 1)⌉, ⌈minimum × window⌉)`, exact for every ratio and under threads.
/// The call that asks is one, however long ago it began, so a quiet client gets its retry; a
/// minimum per second lets it have more, and multiplies by the number of clients. A reserve keeps
/// a share of the bound for critical calls; sheddable ones may use half of what is left, so that
/// they lose first. Retries that ask for a [share](Ask::share) have that share of the bound, rounded
/// up.
///
/// The success path adds one to an atomic. Nothing is remembered longer than the window, and an
/// idle time of any length costs nothing. Calls that [succeed at once](Budget::on_success_at_once)
/// are counted without a reading of the clock, as if they came when it was last read: never too
/// late, so that the bound holds, and no more than 16 of them are ever forgotten too early.
///
/// ```
/// use std::time::{Duration, Instant};
/// use steadfast_core::Ratio;
/// use steadfast_core::budget::{Ask, Budget, RatioBudget};
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
/// budget.reserve(Ask::new(now)).unwrap().sent();
/// budget.reserve(Ask::new(now)).unwrap().sent();
/// assert!(budget.reserve(Ask::new(now)).is_none(), "⌈0.1 × 15⌉ = 2");
/// # Ok::<(), steadfast_core::InvalidRatio>(())
/// ```
#[derive(Clone, Debug)]
pub struct RatioBudget(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    ratio: Ratio,
    minimum_per_second: Ratio,
    reserve: Ratio,
    steps: Steps,
    /// The newest step that was seen; [`UNSEEN`] before the first.
    latest: AtomicU32,
    calls: AtomicWindow<STEPS>,
    retries: Mutex<Window<STEPS>>,
}

impl Default for RatioBudget {
    fn default() -> Self {
        Self::new(DEFAULT_RATIO)
    }
}

impl RatioBudget {
    /// A budget of this many retries per call, over [`DEFAULT_WINDOW`], without a minimum.
    pub fn new(ratio: Ratio) -> Self {
        Self::with_parts(ratio, Ratio::ZERO, Ratio::ZERO, DEFAULT_WINDOW)
    }

    /// The same ratio, with this many retries per second allowed in any case. Starts empty.
    #[must_use]
    pub fn with_minimum_per_second(self, minimum: Ratio) -> Self {
        Self::with_parts(self.0.ratio, minimum, self.0.reserve, self.0.steps.ten())
    }

    /// The same ratio over another window; shorter than 100 ms counts as 100 ms. Starts empty.
    #[must_use]
    pub fn with_window(self, window: Duration) -> Self {
        let Shared {
            ratio,
            minimum_per_second,
            reserve,
            ..
        } = *self.0;
        Self::with_parts(ratio, minimum_per_second, reserve, window)
    }

    /// The same, with this share of the bound kept for critical calls. Default: nothing. Starts
    /// empty.
    #[must_use]
    pub fn with_reserve(self, reserve: Ratio) -> Self {
        let Shared {
            ratio,
            minimum_per_second,
            ..
        } = *self.0;
        Self::with_parts(ratio, minimum_per_second, reserve, self.0.steps.ten())
    }

    fn with_parts(
        ratio: Ratio,
        minimum_per_second: Ratio,
        reserve: Ratio,
        window: Duration,
    ) -> Self {
        Self(Arc::new(Shared {
            ratio,
            minimum_per_second,
            reserve,
            steps: Steps::tenths_of(window),
            latest: AtomicU32::new(UNSEEN),
            calls: AtomicWindow::new(),
            retries: Mutex::new(Window::new()),
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

    /// The share of the bound that is kept for critical calls.
    pub fn reserve_for_critical(&self) -> Ratio {
        self.0.reserve
    }

    /// The time over which calls and retries are counted.
    pub fn window(&self) -> Duration {
        self.0.steps.ten()
    }
}

impl Budget for RatioBudget {
    fn on_call(&self, now: Instant) {
        self.0.calls.add(self.0.see(now));
    }

    fn on_success_at_once(&self, clock: &dyn Fn() -> Instant) {
        let latest = self.0.latest.load(Ordering::Relaxed);
        if latest == UNSEEN {
            return self.on_call(clock());
        }
        if self.0.calls.add(latest) % UNDATED == 0 {
            self.0.see(clock());
        }
    }

    fn on_outcome(&self, sending: Sending, ending: Ending, now: Instant) {
        if (sending, ending) == (Sending::First, Ending::NotSent) {
            // A call that we refused ourselves earns nothing.
            self.0.calls.take_back(self.0.steps.at(now));
        }
    }

    fn reserve(&self, ask: Ask) -> Option<Permit> {
        let step = self.0.see(ask.now);
        let mut retries = self.0.lock_retries();
        // The call that asks is one, however long ago it began.
        let calls = self.0.calls.total(step).max(1);
        let limit = ask.share_of(self.0.limit(calls));
        let limit = open_to(ask.criticality, limit, self.0.reserve);
        if retries.total(step) >= limit {
            return None;
        }
        let token = retries.add(step);
        Some(Permit::new(self.0.clone(), token))
    }
}

impl Settle for Shared {
    fn settle(&self, token: u64, used: Used) {
        if used == Used::Unsent {
            self.lock_retries().take_back(token);
        }
    }
}

impl Shared {
    /// The step of this reading of the clock.
    #[inline]
    fn see(&self, now: Instant) -> u32 {
        let step = self.steps.at(now);
        let latest = self.latest.load(Ordering::Relaxed);
        // Half of all steps lie ahead. Where two threads write, the older may stay: it only makes
        // calls seem older than they are.
        if latest == UNSEEN || (1..1 << 31).contains(&step.wrapping_sub(latest)) {
            self.latest.store(step, Ordering::Relaxed);
        }
        step
    }

    /// ⌈max(ratio × calls, minimum × window)⌉
    fn limit(&self, calls: u64) -> u64 {
        let calls = self.ratio.ceil_of(calls);
        if self.minimum_per_second == Ratio::ZERO {
            return calls;
        }
        let window_nanos = self.steps.ten().as_nanos().min(u64::MAX.into());
        let minimum = u128::from(self.minimum_per_second.as_millionths()) * window_nanos;
        let minimum = minimum.div_ceil(1_000_000 * 1_000_000_000);
        calls.max(minimum as u64)
    }

    fn lock_retries(&self) -> MutexGuard<'_, Window<STEPS>> {
        // Nothing under this lock can panic half way.
        self.retries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
