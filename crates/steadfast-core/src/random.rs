use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

/// The randomness of one stack: every call takes draws of its own from it.
///
/// By default seeded by the operating system, once per value. All clones share one count of
/// streams, so that no two calls draw the same delays. A seeded one repeats itself: for tests
/// and simulations only, because clients with the same seed return in lockstep.
///
/// ```
/// use steadfast_core::Random;
///
/// let random = Random::new();
/// assert_ne!(random.draws().draw(), random.clone().draws().draw());
/// assert_eq!(Random::seeded(7).draws().draw(), Random::seeded(7).draws().draw());
/// ```
#[derive(Clone, Debug)]
pub struct Random(Arc<Streams>);

#[derive(Debug)]
struct Streams {
    seed: u64,
    next: AtomicU64,
}

impl Random {
    /// Seeded by the operating system.
    pub fn new() -> Self {
        Self::seeded(rand::random())
    }

    /// Repeats the same streams for the same seed.
    pub fn seeded(seed: u64) -> Self {
        Self(Arc::new(Streams {
            seed,
            next: AtomicU64::new(0),
        }))
    }

    /// The draws of one call, independent of every other call's.
    pub fn draws(&self) -> Draws {
        let stream = self.0.next.fetch_add(1, Ordering::Relaxed);
        Draws(SmallRng::seed_from_u64(self.0.seed ^ scattered(stream)))
    }
}

/// Spreads neighbours over all 64 bits (the finalizer of SplitMix64): the generator's own seeding
/// walks in fixed steps, on which the streams of neighbours would overlap.
const fn scattered(stream: u64) -> u64 {
    let mut x = stream.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl Default for Random {
    fn default() -> Self {
        Self::new()
    }
}

/// A stream of numbers in [0, 1); see [`Random::draws`].
#[derive(Debug)]
pub struct Draws(SmallRng);

impl Draws {
    /// The next number, uniform in [0, 1).
    pub fn draw(&mut self) -> f64 {
        self.0.random()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three(random: &Random) -> [f64; 3] {
        let mut draws = random.draws();
        [draws.draw(), draws.draw(), draws.draw()]
    }

    #[test]
    fn clones_draw_differently_and_so_does_each_call() {
        for random in [Random::new(), Random::seeded(1)] {
            let clone = random.clone();
            let seen = [three(&random), three(&clone), three(&random), three(&clone)];
            for (i, a) in seen.iter().enumerate() {
                assert!(
                    seen[..i].iter().all(|b| a != b),
                    "stream {i} repeats another"
                );
            }
        }
    }

    #[test]
    fn same_seeded_clients_return_in_lockstep() {
        assert_eq!(three(&Random::seeded(3)), three(&Random::seeded(3)));
        assert_ne!(three(&Random::seeded(3)), three(&Random::seeded(4)));
    }
}
