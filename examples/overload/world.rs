//! Callers, a server, and a trigger, on one virtual clock.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use steadfast::Random;
use tokio::time::{Instant, sleep_until};

use crate::client::{Retries, client};
use crate::server::Server;

/// Callers with state of their own.
const CLIENTS: usize = 20;

/// The capacity falls to one in this many.
const SLOWDOWN: u32 = 5;

/// What is simulated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct World {
    /// Requests that the server can do in a second: a divisor of 1000.
    pub(crate) capacity: u32,
    /// Calls that arrive in a second, as a share of that.
    pub(crate) load: f64,
    /// Seconds before the trigger.
    pub(crate) warm: u32,
    /// Seconds that it lasts.
    pub(crate) trigger: u32,
    /// Seconds after it; its last 20 are what counts.
    pub(crate) after: u32,
    pub(crate) seed: u64,
}

impl Default for World {
    fn default() -> Self {
        Self {
            capacity: 1000,
            load: 0.85,
            warm: 10,
            trigger: 10,
            after: 90,
            seed: 1,
        }
    }
}

/// Shares of the calls that succeeded, by when they began, and what that took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) before: f64,
    pub(crate) during: f64,
    pub(crate) after: f64,
    /// Attempts that were sent, per call.
    pub(crate) attempts: f64,
    /// The share of the server's work that helped nobody.
    pub(crate) wasted: f64,
}

impl World {
    /// Runs it; the same seed has the same outcome.
    ///
    /// # Panics
    ///
    /// When there is no runtime to be had.
    pub(crate) fn run(self, retries: Retries, drops: bool) -> Outcome {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build();
        runtime
            .expect("a runtime without I/O needs nothing of the system")
            .block_on(self.simulate(retries, drops))
    }

    async fn simulate(self, retries: Retries, drops: bool) -> Outcome {
        let random = Random::seeded(self.seed);
        let server = Server::new(1000 / self.capacity, drops);
        let sent = Arc::new(AtomicU64::new(0));
        let clients: Vec<_> = (0..CLIENTS)
            .map(|_| client(retries, random.clone(), server.clone(), Arc::clone(&sent)))
            .collect();
        let counts = Arc::new(Mutex::new(Counts::default()));
        let start = Instant::now();
        let (trigger, over, end) = self.moments();
        let mut draws = random.draws();
        let (mut at, mut calls) = (0.0, 0);
        loop {
            // Arrivals are independent of each other: exponential gaps.
            at += -(1.0 - draws.draw()).ln() / (f64::from(self.capacity) * self.load);
            if at >= end {
                break;
            }
            sleep_until(start + Duration::from_secs_f64(at)).await;
            let slow = (trigger..over).contains(&at);
            server.take(1000 / self.capacity * if slow { SLOWDOWN } else { 1 });
            let phase = if at < trigger {
                Some(Phase::Before)
            } else if slow {
                Some(Phase::During)
            } else if at >= end - 20.0 {
                Some(Phase::After)
            } else {
                None
            };
            let call = clients[calls % CLIENTS]();
            let counts = Arc::clone(&counts);
            tokio::spawn(async move {
                let succeeded = call.await;
                let mut counts = counts.lock().unwrap_or_else(|it| it.into_inner());
                counts.add(phase, succeeded);
            });
            calls += 1;
        }
        // Three attempts and the waits between them.
        sleep_until(start + Duration::from_secs_f64(end + 10.0)).await;
        let counts = *counts.lock().unwrap_or_else(|it| it.into_inner());
        let (worked, useful) = (server.worked() as f64, counts.succeeded as f64);
        Outcome {
            before: counts.share(Phase::Before),
            during: counts.share(Phase::During),
            after: counts.share(Phase::After),
            attempts: sent.load(Ordering::Relaxed) as f64 / calls as f64,
            wasted: 1.0 - useful / worked,
        }
    }

    /// When the trigger begins and ends, and when everything ends, in seconds.
    fn moments(&self) -> (f64, f64, f64) {
        let trigger = f64::from(self.warm);
        let over = trigger + f64::from(self.trigger);
        (trigger, over, over + f64::from(self.after))
    }
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Before,
    During,
    After,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    succeeded: u64,
    phases: [(u64, u64); 3],
}

impl Counts {
    fn add(&mut self, phase: Option<Phase>, succeeded: bool) {
        self.succeeded += u64::from(succeeded);
        if let Some(phase) = phase {
            let (calls, good) = &mut self.phases[phase as usize];
            *calls += 1;
            *good += u64::from(succeeded);
        }
    }

    fn share(&self, phase: Phase) -> f64 {
        let (calls, good) = self.phases[phase as usize];
        good as f64 / calls as f64
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            before,
            during,
            after,
            attempts,
            wasted,
        } = self;
        let wasted = wasted * 100.0;
        write!(
            f,
            "{before:.2} | {during:.2} | {after:.2} | {attempts:.2} | {wasted:.0}%"
        )
    }
}

impl fmt::Display for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "A server for {} requests a second, first come, first served, at {:.0}% load; for {} s \
             it does a fifth. {CLIENTS} clients, 3 attempts of 1 s. Share of calls that succeed; \
             `after` is {} to {} s after the trigger. Seed {}.",
            self.capacity,
            self.load * 100.0,
            self.trigger,
            self.after.saturating_sub(20),
            self.after,
            self.seed,
        )
    }
}
