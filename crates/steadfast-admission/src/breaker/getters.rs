use std::num::NonZeroU32;
use std::time::Duration;

use steadfast_core::{Backoff, Classify, Hints, Observe, Random, Ratio};

use super::{BreakerConfig, Window};
use crate::{Mode, Scope};

impl BreakerConfig {
    /// The calls to judge by.
    pub const fn window(&self) -> Window {
        self.rules.window
    }

    /// The share of failed calls that opens a circuit.
    pub const fn failure_rate(&self) -> Option<Ratio> {
        self.rules.failure_rate
    }

    /// The failures in a row that open a circuit.
    pub const fn consecutive_failures(&self) -> Option<NonZeroU32> {
        self.rules.consecutive
    }

    /// From when on a call is slow, and the share of slow ones that opens a circuit.
    pub fn slow_calls(&self) -> Option<(Duration, Ratio)> {
        self.rules.slow.map(|slow| (slow.longer_than, slow.rate))
    }

    /// How long a circuit stays open.
    pub const fn open(&self) -> &Backoff {
        &self.rules.open
    }

    /// Where a failed answer says how long it stays open at least.
    pub const fn hints(&self) -> Option<&Hints> {
        self.hints.as_ref()
    }

    /// Probes that are out at once, and that must succeed.
    pub const fn probes(&self) -> NonZeroU32 {
        self.rules.probes
    }

    /// The time after which a probe that has not ended loses its place.
    pub const fn probe_lease(&self) -> Duration {
        self.rules.probe_lease
    }

    /// Whether calls are refused or only told.
    pub const fn mode(&self) -> Mode {
        self.acts.mode
    }

    /// Which calls share a circuit.
    pub const fn scope(&self) -> Scope {
        self.memory.scope
    }

    /// How many destinations are remembered at most.
    pub const fn max_keys(&self) -> NonZeroU32 {
        self.memory.max_keys
    }

    /// The time without a call after which a destination is forgotten.
    pub const fn idle(&self) -> Duration {
        self.memory.idle
    }

    /// Who is told.
    pub fn observer(&self) -> Option<&dyn Observe> {
        self.acts.observer()
    }

    /// What errors mean.
    pub fn classify(&self) -> &dyn Classify {
        &*self.classify
    }

    /// The randomness of open times.
    pub const fn random(&self) -> &Random {
        &self.random
    }
}
