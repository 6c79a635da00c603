//! One state after the other.

use std::sync::Arc;
use std::time::{Duration, Instant};

use steadfast_core::CircuitState;

use super::untold::Change;
use super::{Circuit, History, Kind, NOT_CLOSED, Phase, locked};
use crate::breaker::BreakerConfig;
use crate::breaker::rules::Tripped;
use crate::sync::atomic::Ordering;

impl Circuit {
    pub(super) fn open(&self, generation: u64, tripped: Tripped, hint: Duration, now: Instant) {
        let mut history = locked(&self.history);
        let phase = self.phase.load();
        if phase.generation != generation {
            return;
        }
        let rules = &phase.config.rules;
        let draw = phase.config.random.draws().draw();
        let open_for = rules.open_for(history.openings, history.last, hint, draw);
        history.openings = history.openings.saturating_add(1);
        history.last = open_for;
        let until = now.checked_add(open_for);
        // A time that no clock can show is for ever.
        let kind = until.map_or(Kind::HeldOpen, |until| Kind::Open { until });
        let mut change = self.put(&phase, phase.config.clone(), kind);
        (change.failures, change.calls) = (tripped.failures, tripped.calls);
        change.open_for = Some(open_for);
        history.untold.push(change, &phase.config);
        drop(history);
        self.tell();
    }

    /// Puts another state in the place of the one with this generation, if that is there still.
    pub(super) fn change(
        &self,
        generation: u64,
        kind: impl FnOnce(&BreakerConfig, &mut History) -> Kind,
    ) {
        let mut history = locked(&self.history);
        let phase = self.phase.load();
        if phase.generation != generation {
            return;
        }
        let kind = kind(&phase.config, &mut history);
        let change = self.put(&phase, phase.config.clone(), kind);
        history.untold.push(change, &phase.config);
        drop(history);
        self.tell();
    }

    /// The same for any state, by an operator's hand; to be [told](Self::tell).
    pub(super) fn set(&self, kind: impl FnOnce(&BreakerConfig, &mut History) -> Kind) {
        let mut history = locked(&self.history);
        let phase = self.phase.load();
        phase.kind.finish();
        let kind = kind(&phase.config, &mut history);
        let change = self.put(&phase, phase.config.clone(), kind);
        history.untold.push(change, &phase.config);
    }

    /// Goes on by the rules of another config; to be [told](Self::tell).
    pub(in crate::breaker) fn follow(&self, config: &Arc<BreakerConfig>, now: Instant) {
        let mut history = locked(&self.history);
        let phase = self.phase.load();
        if Arc::ptr_eq(&phase.config, config) {
            return;
        }
        let (before, rules) = (&phase.config.rules, &config.rules);
        let same = match &phase.kind {
            Kind::Closed(counts) if before.count_as(rules) => Kind::Closed(counts.clone()),
            Kind::Open { until } => Kind::Open { until: *until },
            Kind::HeldOpen => Kind::HeldOpen,
            Kind::Disabled => Kind::Disabled,
            Kind::Closed(_) | Kind::HalfOpen(_) => {
                phase.kind.finish();
                let kind = match phase.kind {
                    // Its probes went out under other rules: it asks anew.
                    Kind::HalfOpen(_) => Kind::Open { until: now },
                    _ => Kind::closed(config),
                };
                let mut change = self.put(&phase, config.clone(), kind);
                change.open_for = (change.to == CircuitState::Open).then_some(Duration::ZERO);
                history.untold.push(change, config);
                return;
            }
        };
        // Of the same generation: what went out before counts still.
        self.phase.store(Phase {
            generation: phase.generation,
            config: config.clone(),
            kind: same,
        });
    }

    /// Under the lock of changes.
    fn put(&self, phase: &Phase, config: Arc<BreakerConfig>, kind: Kind) -> Change {
        let (from, to) = (phase.kind.state(), kind.state());
        let generation = phase.generation + 1;
        // Nobody is let through by an old word: it is taken back first and given last.
        self.closed.store(NOT_CLOSED, Ordering::Release);
        self.phase.store(Phase {
            generation,
            config,
            kind,
        });
        if to == CircuitState::Closed {
            self.closed.store(generation, Ordering::Release);
        }
        if let Some(watched) = self.watched.get() {
            watched.send_replace(to);
        }
        Change::new(from, to)
    }
}

impl Kind {
    /// It is left by another's hand: nobody is let through any longer.
    fn finish(&self) {
        if let Self::HalfOpen(probes) = self {
            locked(probes).finish();
        }
    }
}
