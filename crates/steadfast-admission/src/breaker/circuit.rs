//! The machine: what is let through, and what a result changes. Time comes from its caller.

use std::sync::{Arc, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use steadfast_core::CircuitState;
use tokio::sync::watch;

use super::BreakerConfig;
use super::counts::{Counted, Counts};
use super::probes::{Full, Probes, Shown, Step};
use super::rules::Tripped;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Mutex, MutexGuard, Swap};

mod by_hand;
mod changes;
mod untold;

use untold::Untold;

/// The circuit of one destination.
///
/// Each state is a value of its own, which results find by its generation: what comes late changes
/// what nobody looks at any longer.
#[derive(Debug)]
pub(super) struct Circuit {
    destination: Option<Box<str>>,
    /// The generation of the phase if it is closed, else [`NOT_CLOSED`]: what nearly every call
    /// has to know before it goes out.
    closed: AtomicU64,
    phase: Swap<Phase>,
    /// Taken by changes of state only.
    history: Mutex<History>,
    watched: OnceLock<watch::Sender<CircuitState>>,
}

/// No generation ever comes so far.
const NOT_CLOSED: u64 = u64::MAX;

#[derive(Debug)]
struct Phase {
    generation: u64,
    /// By whose rules, so that another config needs no look of its own.
    config: Arc<BreakerConfig>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// Shared with the phase of the same generation and another config.
    Closed(Arc<Counts>),
    Open {
        until: Instant,
    },
    HalfOpen(Mutex<Probes>),
    HeldOpen,
    Disabled,
}

/// Times that it opened since it was well, and how long the last time was.
#[derive(Debug, Default)]
struct History {
    openings: u32,
    last: Duration,
    untold: Untold,
}

/// A call that was let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Admitted {
    pub(super) generation: u64,
    /// Which probe, if it is one: from 1 on.
    pub(super) probe: u32,
}

/// A call that was not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) retry_in: Option<Duration>,
}

/// What a call showed about its peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Success,
    Failure {
        /// How long the peer asked to be left alone.
        hint: Duration,
    },
    /// The peer lives, and the call says nothing of how it is doing: the caller's mistake.
    Alive,
    /// Nothing: the caller left, or a layer of ours refused the call.
    Nothing,
}

impl Circuit {
    pub(super) fn new(config: Arc<BreakerConfig>, destination: Option<&str>) -> Self {
        let kind = Kind::closed(&config);
        Self {
            destination: destination.map(Into::into),
            closed: AtomicU64::new(0),
            phase: Swap::new(Phase {
                generation: 0,
                config,
                kind,
            }),
            history: Mutex::default(),
            watched: OnceLock::new(),
        }
    }

    /// The present state. One whose open time is over stays open until a call comes.
    pub(super) fn state(&self) -> CircuitState {
        self.phase.load().kind.state()
    }

    #[cfg(all(test, loom))]
    pub(super) fn follows(&self, config: &Arc<BreakerConfig>) -> bool {
        Arc::ptr_eq(&self.phase.load().config, config)
    }

    /// Whether a call may go out. A closed circuit reads no clock and takes no lock.
    #[inline]
    pub(super) fn admit(&self, now: impl Fn() -> Instant) -> Result<Admitted, Refused> {
        match self.closed.load(Ordering::Acquire) {
            NOT_CLOSED => self.admit_slowly(now()),
            generation => Ok(Admitted {
                generation,
                probe: 0,
            }),
        }
    }

    #[cold]
    fn admit_slowly(&self, now: Instant) -> Result<Admitted, Refused> {
        loop {
            let phase = self.phase.load();
            match &phase.kind {
                Kind::Closed(_) | Kind::Disabled => return Ok(phase.admitted(0)),
                Kind::HeldOpen => return Err(Refused { retry_in: None }),
                Kind::Open { until } if now < *until => {
                    let retry_in = Some(until.saturating_duration_since(now));
                    return Err(Refused { retry_in });
                }
                Kind::Open { .. } => {
                    self.change(phase.generation, |_, _| Kind::HalfOpen(Mutex::default()));
                }
                Kind::HalfOpen(probes) => {
                    let rules = &phase.config.rules;
                    match locked(probes).begin(rules.probes, rules.probe_lease, now) {
                        Ok(probe) => return Ok(phase.admitted(probe)),
                        // Where the state is over, the one that follows is not there yet.
                        Err(Full::Places | Full::Over) => return Err(Refused { retry_in: None }),
                    }
                }
            }
        }
    }

    /// A call ended. `now` is read where the outcome is counted; `took` where slow calls are.
    #[inline]
    pub(super) fn record(
        &self,
        admitted: Admitted,
        outcome: Outcome,
        took: Option<Duration>,
        now: impl Fn() -> Instant,
    ) {
        let phase = self.phase.load();
        if phase.generation != admitted.generation {
            // It belongs to a state that is over.
            return;
        }
        let rules = &phase.config.rules;
        let slow = took.is_some_and(|took| rules.is_slow(took));
        let hint = match outcome {
            Outcome::Failure { hint } => hint,
            _ => Duration::ZERO,
        };
        match &phase.kind {
            Kind::Closed(counts) => {
                let failed = matches!(outcome, Outcome::Failure { .. });
                if failed || outcome == Outcome::Success {
                    let tripped = counts.record(rules, Counted { failed, slow }, &now);
                    if let Some(tripped) = tripped {
                        self.open(phase.generation, tripped, hint, now());
                    }
                }
            }
            Kind::HalfOpen(probes) => {
                let shown = match outcome {
                    Outcome::Failure { .. } => Shown::Failing,
                    Outcome::Success | Outcome::Alive if slow => Shown::Failing,
                    Outcome::Success | Outcome::Alive => Shown::Alive,
                    Outcome::Nothing => Shown::Nothing,
                };
                // From its end on it lets nobody in, so no lock is needed until it is replaced.
                let step = locked(probes).end(admitted.probe, shown, rules.probes);
                match step {
                    Step::Wait => {}
                    Step::Open => {
                        let tripped = Tripped {
                            failures: 1,
                            calls: 1,
                        };
                        self.open(phase.generation, tripped, hint, now());
                    }
                    Step::Close => self.change(phase.generation, |config, history| {
                        history.forget();
                        Kind::closed(config)
                    }),
                }
            }
            Kind::Open { .. } | Kind::HeldOpen | Kind::Disabled => {}
        }
    }
}

impl Phase {
    #[inline]
    const fn admitted(&self, probe: u32) -> Admitted {
        Admitted {
            generation: self.generation,
            probe,
        }
    }
}

impl History {
    /// As if it had never opened.
    fn forget(&mut self) {
        (self.openings, self.last) = Default::default();
    }
}

impl Kind {
    /// Closed, with nothing counted.
    fn closed(config: &BreakerConfig) -> Self {
        Self::Closed(Arc::new(Counts::new(&config.rules)))
    }

    const fn state(&self) -> CircuitState {
        match self {
            Self::Closed(_) => CircuitState::Closed,
            Self::Open { .. } => CircuitState::Open,
            Self::HalfOpen(_) => CircuitState::HalfOpen,
            Self::HeldOpen => CircuitState::HeldOpen,
            Self::Disabled => CircuitState::Disabled,
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing under these locks can panic half way.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;

#[cfg(all(test, loom))]
mod interleavings;
