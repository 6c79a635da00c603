//! Clients that fail together: when do they come back, and how often?
//!
//! All clients call at once. The server accepts so many calls in a millisecond and rejects the
//! others, which wait as a policy of [`Backoff`] says.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use steadfast::backoff::{Backoff, Jitter};

use crate::python::PythonRandom;

/// What is simulated.
///
/// ```
/// use steadfast_lab::storm::{Policy, Storm};
///
/// let outcome = Storm::default().run(Policy::FullJitter, 3);
/// assert_eq!((outcome.calls, outcome.millis), (2499, 45));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Storm {
    /// Clients that begin at once. Default: 500.
    pub clients: u32,
    /// Calls that the server accepts in a millisecond. Default: 20.
    pub capacity: NonZeroU32,
    /// The backoff's first bound. Default: 1 ms.
    pub base: Duration,
    /// Its longest bound. Default: 2 s.
    pub cap: Duration,
    /// What a rejection costs the server. Default: nothing.
    pub rejections: Rejections,
    /// Where the clients' draws come from. Default: each draw is its own.
    pub draws: Draws,
}

/// What a rejection costs the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rejections {
    /// Nothing.
    #[default]
    Free,
    /// Each takes one from what is accepted in the next millisecond, down to this floor.
    Costly(NonZeroU32),
}

/// Where the clients' draws come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Draws {
    /// One generator, so that no two clients draw the same.
    #[default]
    Independent,
    /// A generator for each client, all with the same seed.
    SameSeed,
}

/// How a rejected client waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Not at all.
    NoBackoff,
    /// `base × 2^n`, without jitter.
    Exponential,
    /// [`Jitter::Full`].
    FullJitter,
    /// [`Jitter::Equal`].
    EqualJitter,
    /// [`Jitter::Decorrelated`].
    Decorrelated,
}

impl Policy {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::NoBackoff,
        Self::Exponential,
        Self::FullJitter,
        Self::EqualJitter,
        Self::Decorrelated,
    ];

    /// Its name in tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoBackoff => "no backoff",
            Self::Exponential => "exponential",
            Self::FullJitter => "full jitter",
            Self::EqualJitter => "equal jitter",
            Self::Decorrelated => "decorrelated",
        }
    }

    const fn jitter(self) -> Jitter {
        match self {
            Self::NoBackoff | Self::Exponential => Jitter::None,
            Self::FullJitter => Jitter::Full,
            Self::EqualJitter => Jitter::Equal,
            Self::Decorrelated => Jitter::Decorrelated,
        }
    }
}

/// What it took until each client was served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Calls that reached the server.
    pub calls: u64,
    /// Milliseconds.
    pub millis: u64,
}

impl Default for Storm {
    fn default() -> Self {
        Self {
            clients: 500,
            capacity: NonZeroU32::MIN.saturating_add(19),
            base: Duration::from_millis(1),
            cap: Duration::from_secs(2),
            rejections: Rejections::Free,
            draws: Draws::Independent,
        }
    }
}

/// A client that will call.
#[derive(Clone, Copy, Debug)]
struct Caller {
    client: usize,
    retries: u32,
    last: Duration,
}

impl Storm {
    /// Runs it. The same seed has the same outcome.
    pub fn run(&self, policy: Policy, seed: u64) -> Outcome {
        let backoff = self.backoff(policy);
        let mut random = PythonRandom::seeded(seed);
        let mut own = match self.draws {
            Draws::Independent => Vec::new(),
            Draws::SameSeed => vec![PythonRandom::seeded(seed); self.clients as usize],
        };
        let first = (0..self.clients as usize).map(|client| Caller {
            client,
            retries: 0,
            last: Duration::ZERO,
        });
        let mut pending = BTreeMap::from([(0, first.collect::<Vec<_>>())]);
        let mut outcome = Outcome {
            calls: 0,
            millis: 0,
        };
        let mut rejected_before = 0;
        while let Some((slot, mut arrivals)) = pending.pop_first() {
            if slot > outcome.millis {
                // Nobody came in the meantime.
                rejected_before = 0;
            }
            random.shuffle(&mut arrivals);
            outcome.calls += arrivals.len() as u64;
            outcome.millis = slot + 1;
            let accepted = self.accepted(rejected_before).min(arrivals.len());
            rejected_before = arrivals.len() - accepted;
            for caller in &arrivals[accepted..] {
                let mut draw = || match policy.jitter() {
                    // Takes no draw, as there is nothing to spread.
                    Jitter::None => 0.0,
                    _ => own.get_mut(caller.client).unwrap_or(&mut random).random(),
                };
                let wait = backoff.wait(caller.retries, caller.last, false, draw());
                let again = slot + 1 + wait.as_millis() as u64;
                pending.entry(again).or_default().push(Caller {
                    retries: caller.retries.saturating_add(1),
                    last: wait,
                    ..*caller
                });
            }
        }
        outcome
    }

    fn backoff(&self, policy: Policy) -> Backoff {
        let base = match policy {
            Policy::NoBackoff => Duration::ZERO,
            _ => self.base,
        };
        Backoff::default()
            .with_base(base)
            .with_cap(self.cap)
            .with_jitter(policy.jitter())
    }

    fn accepted(&self, rejected_before: usize) -> usize {
        let capacity = self.capacity.get() as usize;
        match self.rejections {
            Rejections::Free => capacity,
            Rejections::Costly(floor) => capacity
                .saturating_sub(rejected_before)
                .max(floor.get() as usize)
                .min(capacity),
        }
    }
}
