use std::time::{Duration, Instant};

/// The instant by which a call must have ended, or none.
///
/// A limit of 30 years or more means "no deadline": `Duration::MAX` is no limit, and nothing
/// overflows, here or in a timer. A deadline that has come is expired, not unlimited.
///
/// ```
/// use std::time::{Duration, Instant};
/// use steadfast_core::Deadline;
///
/// # #[allow(clippy::disallowed_methods)]
/// let now = Instant::now();
/// let deadline = Deadline::after(now, Duration::from_secs(10));
/// assert_eq!(deadline.left(now), Some(Duration::from_secs(10)));
/// assert!(deadline.reached_by(now, Duration::from_secs(10)));
/// assert_eq!(Deadline::after(now, Duration::MAX), Deadline::NONE);
/// assert!(Deadline::after(now, Duration::ZERO).is_expired(now));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Deadline(Option<Instant>);

impl Deadline {
    /// No deadline.
    pub const NONE: Self = Self(None);

    /// A deadline at this instant.
    pub const fn at(instant: Instant) -> Self {
        Self(Some(instant))
    }

    /// The limit from which on there is none: 30 years, which every platform can represent.
    pub const NO_LIMIT: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

    /// A deadline `limit` after `now`; none for [`Self::NO_LIMIT`] and more.
    #[inline]
    pub fn after(now: Instant, limit: Duration) -> Self {
        if limit >= Self::NO_LIMIT {
            Self::NONE
        } else {
            Self(now.checked_add(limit))
        }
    }

    /// The instant, if there is one.
    #[inline]
    pub const fn instant(self) -> Option<Instant> {
        self.0
    }

    /// The earlier of two deadlines.
    #[must_use]
    #[inline]
    pub fn earliest(self, other: Self) -> Self {
        match (self.0, other.0) {
            (Some(a), Some(b)) => Self(Some(a.min(b))),
            (some, None) | (None, some) => Self(some),
        }
    }

    /// The time left at `now`: zero once expired, `None` without a deadline.
    #[inline]
    pub fn left(self, now: Instant) -> Option<Duration> {
        self.0.map(|instant| instant.saturating_duration_since(now))
    }

    /// Whether the deadline has come.
    #[inline]
    pub fn is_expired(self, now: Instant) -> bool {
        self.0.is_some_and(|instant| instant <= now)
    }

    /// Whether the deadline has come once `wait` has passed from `now`.
    ///
    /// A wait that would end exactly at the deadline reaches it.
    pub fn reached_by(self, now: Instant, wait: Duration) -> bool {
        self.left(now).is_some_and(|left| wait >= left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::disallowed_methods)]
    fn extremes_neither_panic_nor_wrap() {
        let now = Instant::now();
        for endless in [
            Deadline::NO_LIMIT,
            Duration::from_secs(u64::MAX / 2),
            Duration::MAX,
        ] {
            assert_eq!(Deadline::after(now, endless), Deadline::NONE);
        }
        assert!(!Deadline::NONE.is_expired(now));
        assert!(!Deadline::NONE.reached_by(now, Duration::MAX));
        assert!(Deadline::at(now).reached_by(now, Duration::ZERO));
        let soon = Deadline::after(now, Duration::from_secs(1));
        assert_eq!(
            soon.left(now + Duration::from_secs(2)),
            Some(Duration::ZERO)
        );
        assert!(soon.reached_by(now, Duration::MAX));
        assert_eq!(soon.earliest(Deadline::NONE), soon);
        assert_eq!(Deadline::NONE.earliest(soon), soon);
        assert_eq!(soon.earliest(Deadline::at(now)), Deadline::at(now));
    }
}
