use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use super::{Ask, Budget, Ending, Permit, Sending, Settle, Used, open_to};
use crate::Ratio;
use crate::sync::{Mutex, MutexGuard};
use crate::window::{Steps, Window};

/// Retries per interval: 60, Microsoft's example for one dependency of one process.
pub const DEFAULT_RATE: u32 = 60;
/// The interval: a minute, as there.
pub const DEFAULT_RATE_INTERVAL: Duration = Duration::from_secs(60);

/// One step more than the interval has, so that no retry is forgotten before it is that old.
const STEPS: usize = 11;

/// So many retries in an interval, whatever the traffic is.
///
/// Bound: at most `n` retries in any time of the interval's length. A sent retry is counted for
/// the interval and up to a tenth of it longer. A reserve keeps a share for
/// critical calls; sheddable ones may use half of what is left. Retries that ask for a
/// [share](Ask::share) have that share of `n`, rounded up.
///
/// ```
/// use std::time::Duration;
/// use steadfast_core::budget::RateBudget;
///
/// assert_eq!(RateBudget::default().retries(), 60);
/// assert_eq!(RateBudget::default().interval(), Duration::from_secs(60));
/// ```
#[derive(Clone, Debug)]
pub struct RateBudget(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    retries: u32,
    reserve: Ratio,
    steps: Steps,
    made: Mutex<Window<STEPS>>,
}

impl Default for RateBudget {
    fn default() -> Self {
        Self::new(DEFAULT_RATE, DEFAULT_RATE_INTERVAL)
    }
}

impl RateBudget {
    /// So many retries in this time; an interval shorter than 100 ms counts as 100 ms.
    pub fn new(retries: u32, interval: Duration) -> Self {
        Self::with_parts(retries, Ratio::ZERO, interval)
    }

    /// The same, with this share kept for critical calls. Default: nothing. Starts empty.
    #[must_use]
    pub fn with_reserve(self, reserve: Ratio) -> Self {
        Self::with_parts(self.0.retries, reserve, self.interval())
    }

    fn with_parts(retries: u32, reserve: Ratio, interval: Duration) -> Self {
        let steps = Steps::tenths_of(interval);
        Self(Arc::new(Shared {
            retries,
            reserve,
            steps,
            made: Mutex::new(Window::new()),
        }))
    }

    /// How many retries.
    pub fn retries(&self) -> u32 {
        self.0.retries
    }

    /// In which time.
    pub fn interval(&self) -> Duration {
        self.0.steps.ten()
    }
}

impl Budget for RateBudget {
    fn on_call(&self, _: Instant) {}

    fn on_success_at_once(&self, _: &dyn Fn() -> Instant) {}

    fn on_outcome(&self, _: Sending, _: Ending, _: Instant) {}

    fn reserve(&self, ask: Ask) -> Option<Permit> {
        let limit = ask.share_of(self.0.retries.into());
        let limit = open_to(ask.criticality, limit, self.0.reserve);
        let step = self.0.steps.at(ask.now);
        let mut made = self.0.lock();
        if made.total(step) >= limit {
            return None;
        }
        let token = made.add(step);
        Some(Permit::new(self.0.clone(), token))
    }
}

impl Settle for Shared {
    fn settle(&self, token: u64, used: Used) {
        if used == Used::Unsent {
            self.lock().take_back(token);
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Window<STEPS>> {
        // Nothing under this lock can panic half way.
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::disallowed_methods,
        reason = "an arbitrary instant to count from"
    )]

    use proptest::prelude::*;

    use super::super::tests::spend_all;
    use super::*;
    use crate::Criticality;

    #[test]
    fn time_refills_without_traffic_and_without_success() {
        let budget = RateBudget::new(5, Duration::from_secs(10));
        let start = Instant::now();
        assert_eq!(spend_all(&budget, start), 5);
        assert_eq!(spend_all(&budget, start + Duration::from_secs(10)), 0);
        assert_eq!(spend_all(&budget, start + Duration::from_secs(11)), 5);
        assert_eq!(spend_all(&budget, start + Duration::from_secs(86_400)), 5);
    }

    #[test]
    fn sheddable_calls_lose_first_and_unsent_retries_return() {
        let budget = RateBudget::new(4, Duration::from_secs(10));
        let now = Instant::now();
        let low = Ask {
            criticality: Criticality::Sheddable,
            ..Ask::new(now)
        };
        for _ in 0..20 {
            drop(budget.reserve(low).unwrap());
        }
        budget.reserve(low).unwrap().sent();
        budget.reserve(low).unwrap().sent();
        assert!(budget.reserve(low).is_none());
        assert_eq!(spend_all(&budget, now), 2);
    }

    proptest! {
        #[test]
        fn never_more_than_n_in_any_interval(
            n in 0..20u32, advances in proptest::collection::vec(0..3_000u64, 1..80),
        ) {
            let budget = RateBudget::new(n, Duration::from_secs(10));
            let start = Instant::now();
            let (mut at, mut sent) = (0, Vec::new());
            for advance in advances {
                at += advance;
                let spent = spend_all(&budget, start + Duration::from_millis(at));
                sent.extend((0..spent).map(|_| at));
                let recent = sent.iter().filter(|t| **t + 10_000 > at).count();
                prop_assert!(recent <= n as usize, "{recent} of {n} at {at}");
            }
        }
    }
}
