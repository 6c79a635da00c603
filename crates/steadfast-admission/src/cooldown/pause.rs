use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Until when a host is left alone.
///
/// Without a lock: the latest end that anybody asked for holds. It has no states: when the end has
/// come, it is as if nothing had been asked.
#[derive(Debug, Default)]
pub(super) struct Pause {
    /// The end in nanoseconds, on a scale where `origin` is at [`ORIGIN`]; [`NONE`] for no pause.
    until: AtomicU64,
    origin: OnceLock<Instant>,
}

const NONE: u64 = 0;
/// Far from zero, since another thread's reading may be a little before the one that became the
/// origin; 438 years fit above it.
const ORIGIN: u64 = 1 << 62;

impl Pause {
    /// Leaves the host alone for `wait` from `now`. Whether that is longer than before; a shorter
    /// wait changes nothing.
    pub(super) fn extend(&self, now: Instant, wait: Duration) -> bool {
        if wait.is_zero() {
            return false;
        }
        let origin = *self.origin.get_or_init(|| now);
        let until = on_scale(origin, now).saturating_add(nanos(wait));
        self.until.fetch_max(until, Ordering::AcqRel) < until
    }

    /// How long the host is to be left alone still; never zero. The clock is read only where
    /// somebody asked for a pause that nobody has found over.
    #[inline]
    pub(super) fn rest(&self, now: impl FnOnce() -> Instant) -> Option<Duration> {
        match self.until.load(Ordering::Acquire) {
            NONE => None,
            until => self.rest_of(until, now()),
        }
    }

    #[cold]
    fn rest_of(&self, until: u64, now: Instant) -> Option<Duration> {
        let origin = *self.origin.get()?;
        let left = until.saturating_sub(on_scale(origin, now));
        if left == 0 {
            // The calls after this one need no clock. A longer pause that began meanwhile stays.
            let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
            let _ = self.until.compare_exchange(until, NONE, success, failure);
            return None;
        }
        Some(Duration::from_nanos(left))
    }

    /// Ends the pause.
    pub(super) fn clear(&self) {
        self.until.store(NONE, Ordering::Release);
    }
}

fn on_scale(origin: Instant, at: Instant) -> u64 {
    match at.checked_duration_since(origin) {
        Some(later) => ORIGIN.saturating_add(nanos(later)),
        None => ORIGIN.saturating_sub(nanos(origin.saturating_duration_since(at))),
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
