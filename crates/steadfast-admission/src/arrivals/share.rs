//! How many of those who arrive come again. Pure.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};

use steadfast_core::Ratio;
use steadfast_core::window::{AtomicWindow, Steps};

const STEPS: usize = 10;

/// How many of the arrivals may be retries.
#[derive(Debug)]
pub(super) struct Share {
    most: Ratio,
    minimum: NonZeroU32,
    arrived: Arc<Arrived>,
}

/// Arrivals of the last while, and how many of them were retries.
#[derive(Debug)]
struct Arrived {
    steps: Steps,
    all: AtomicWindow<STEPS>,
    retries: AtomicWindow<STEPS>,
}

impl Share {
    pub(super) fn new(most: Ratio, minimum: NonZeroU32, window: Duration) -> Self {
        let arrived = Arrived {
            steps: Steps::tenths_of(window),
            all: AtomicWindow::new(),
            retries: AtomicWindow::new(),
        };
        Self {
            most,
            minimum,
            arrived: Arc::new(arrived),
        }
    }

    /// Another share of the same arrivals.
    pub(super) fn with(&self, most: Ratio, minimum: NonZeroU32) -> Self {
        Self {
            most,
            minimum,
            arrived: self.arrived.clone(),
        }
    }

    /// Counts an arrival; whether it is one retry too many. Those that are refused count too: they
    /// show what their senders do.
    pub(super) fn is_too_much(&self, retry: bool, now: Instant) -> bool {
        let Arrived {
            steps,
            all,
            retries,
        } = &*self.arrived;
        let step = steps.at(now);
        all.add(step);
        if !retry {
            return false;
        }
        retries.add(step);
        // In this order: what arrives in between makes the share smaller, never larger.
        let retries = retries.total(step);
        let all = all.total(step);
        let share = u128::from(self.most.as_millionths()) * u128::from(all);
        all >= self.minimum.get().into() && u128::from(retries) * 1_000_000 > share
    }
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::unwrap_used,
        clippy::disallowed_methods,
        reason = "a test may fail by panicking, and counts from an arbitrary instant"
    )]

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_retry_is_too_much_exactly_above_the_share_of_the_window(
            arrivals in proptest::collection::vec((any::<bool>(), 0..900u64), 1..200),
            percent in 0..100u32,
        ) {
            let most = Ratio::percent(percent).unwrap();
            let minimum = NonZeroU32::new(10).unwrap();
            let share = Share::new(most, minimum, Duration::from_secs(10));
            let origin = Instant::now();
            let mut at = 0;
            let mut seen: Vec<(u64, bool)> = Vec::new();
            for (retry, later) in arrivals {
                let now = origin + Duration::from_millis(at);
                seen.push((at, retry));
                let step = at / 1000;
                let window = seen.iter().filter(|(at, _)| step - at / 1000 < 10);
                let (all, retries) = window.fold((0u64, 0u64), |(all, retries), (_, retry)| {
                    (all + 1, retries + u64::from(*retry))
                });
                let expected = retry && all >= 10 && retries * 100 > u64::from(percent) * all;
                prop_assert_eq!(share.is_too_much(retry, now), expected);
                at += later;
            }
        }
    }
}
