use std::sync::atomic::{AtomicU64, Ordering};

/// What went other than usual under leases, since the engine was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeaseCounts {
    /// Claims that took over from a lost owner, or ran again after a release.
    pub reruns: u64,
    /// Leases that ended, by our clock or by another claim, while their handler worked.
    pub lost: u64,
    /// Completions rejected by their fence: their answers were not sent.
    pub fenced: u64,
    /// Answers that were sent although they could not be kept.
    pub unrecorded: u64,
    /// Requests that met, or left behind, an outcome that nobody knows.
    pub unknown: u64,
    /// Unknown outcomes that were resolved, either way.
    pub resolved: u64,
}

#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) reruns: AtomicU64,
    pub(super) lost: AtomicU64,
    pub(super) fenced: AtomicU64,
    pub(super) unrecorded: AtomicU64,
    pub(super) unknown: AtomicU64,
    pub(super) resolved: AtomicU64,
}

/// Counts order nothing.
pub(super) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl Counters {
    pub(super) fn read(&self) -> LeaseCounts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        LeaseCounts {
            reruns: read(&self.reruns),
            lost: read(&self.lost),
            fenced: read(&self.fenced),
            unrecorded: read(&self.unrecorded),
            unknown: read(&self.unknown),
            resolved: read(&self.resolved),
        }
    }
}
