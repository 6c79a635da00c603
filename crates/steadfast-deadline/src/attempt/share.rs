//! How much time does one attempt get?

use std::time::Duration;

use steadfast_core::{Cut, Deadline};

/// The time of one attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Share {
    /// As much as it needs.
    Unlimited,
    /// This much, which is more than nothing; ended by this limit.
    Of(Duration, Cut),
    /// Nothing: it is not begun.
    Nothing,
}

/// The smaller of the configured limit and what the deadline leaves.
///
/// A deadline that leaves exactly the configured time did not cut it.
#[inline]
pub(crate) fn share(limit: Duration, left: Option<Duration>) -> Share {
    let (time, cut) = match left {
        Some(left) if left < limit => (left, Cut::Deadline),
        _ => (limit, Cut::AttemptTimeout),
    };
    if time.is_zero() {
        Share::Nothing
    } else if time >= Deadline::NO_LIMIT {
        Share::Unlimited
    } else {
        Share::Of(time, cut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn the_smaller_of_limit_and_time_left_is_given() {
        for (limit, left, want) in [
            (100, None, Share::Of(100 * MS, Cut::AttemptTimeout)),
            (100, Some(250), Share::Of(100 * MS, Cut::AttemptTimeout)),
            (100, Some(100), Share::Of(100 * MS, Cut::AttemptTimeout)),
            (100, Some(99), Share::Of(99 * MS, Cut::Deadline)),
            (100, Some(0), Share::Nothing),
            (0, Some(100), Share::Nothing),
            (0, None, Share::Nothing),
        ] {
            assert_eq!(
                share(limit * MS, left.map(|left| left * MS)),
                want,
                "{limit} {left:?}"
            );
        }
    }

    #[test]
    fn endless_limits_are_none() {
        for endless in [
            Duration::MAX,
            Duration::from_secs(u64::MAX),
            Deadline::NO_LIMIT,
        ] {
            assert_eq!(share(endless, None), Share::Unlimited);
            assert_eq!(share(endless, Some(Duration::MAX)), Share::Unlimited);
            assert_eq!(share(endless, Some(MS)), Share::Of(MS, Cut::Deadline));
            assert_eq!(share(MS, Some(endless)), Share::Of(MS, Cut::AttemptTimeout));
            assert_eq!(share(endless, Some(Duration::ZERO)), Share::Nothing);
        }
    }
}
