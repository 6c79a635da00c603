use std::time::Duration;

use steadfast_core::{Backoff, Draws, Random};
use tokio::time::{Sleep, sleep};
use tower::retry::backoff;

/// A [`Backoff`] and its randomness, where tower wants a `MakeBackoff`.
///
/// Each session draws for itself: two that one maker or one policy made share no delay.
#[derive(Clone, Debug, Default)]
pub struct MakeSession {
    backoff: Backoff,
    random: Random,
}

impl MakeSession {
    /// Sessions of this backoff, seeded by the operating system.
    pub fn new(backoff: Backoff) -> Self {
        Self::with_random(backoff, Random::new())
    }

    /// Sessions of this backoff with this randomness, for tests.
    pub const fn with_random(backoff: Backoff, random: Random) -> Self {
        Self { backoff, random }
    }
}

impl backoff::MakeBackoff for MakeSession {
    type Backoff = BackoffSession;

    fn make_backoff(&mut self) -> BackoffSession {
        BackoffSession {
            draws: self.random.draws(),
            make: self.clone(),
            retries: 0,
            last: Duration::ZERO,
        }
    }
}

/// The delays of one call, where tower wants a `Backoff`.
///
/// A clone begins anew with draws of its own, as tower's trait asks: `tower::retry` clones its
/// policy for each call.
#[derive(Debug)]
pub struct BackoffSession {
    make: MakeSession,
    draws: Draws,
    retries: u32,
    last: Duration,
}

impl BackoffSession {
    /// The next delay; it counts as waited for.
    pub fn next_delay(&mut self) -> Duration {
        let Self {
            make,
            draws,
            retries,
            last,
        } = self;
        let delay = make.backoff.wait(*retries, *last, false, draws.draw());
        *retries = retries.saturating_add(1);
        *last = delay;
        delay
    }
}

impl Clone for BackoffSession {
    fn clone(&self) -> Self {
        backoff::MakeBackoff::make_backoff(&mut self.make.clone())
    }
}

impl backoff::Backoff for BackoffSession {
    // As tower's own: a policy that names its future's type needs no change.
    type Future = Sleep;

    fn next_backoff(&mut self) -> Sleep {
        sleep(self.next_delay())
    }
}
