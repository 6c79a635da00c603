//! What all services of one layer share.

use std::cell::LazyCell;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::{Request, Response};
use steadfast_core::order::ToldOnce;
use steadfast_core::{CooldownBegan, Event, Hint, Reason};

use super::CooldownConfig;
use super::pause::Pause;
use crate::clock;
use crate::scope::{States, key};
use crate::settings::Memory;
use crate::told::Told;

pub(super) struct Shared {
    config: CooldownConfig,
    pauses: Arc<Pauses>,
}

/// The pauses of all destinations, which layers of different configs may share.
pub(super) struct Pauses {
    states: States<Pause>,
    /// Those that somebody set by hand: a destination that is forgotten and remembered again has
    /// the same one.
    by_hand: Mutex<HashMap<Box<str>, Arc<Pause>>>,
    misordered: ToldOnce,
}

impl Shared {
    pub(super) fn new(config: CooldownConfig) -> Self {
        let pauses = Pauses {
            states: States::new(memory(&config), Pause::default),
            by_hand: Mutex::default(),
            misordered: ToldOnce::new(),
        };
        let pauses = Arc::new(pauses);
        Self { config, pauses }
    }

    /// The same pauses by another config; others where its scope is another.
    pub(super) fn reconfigured(&self, config: CooldownConfig) -> Self {
        if config.scope() != self.config.scope() {
            return Self::new(config);
        }
        let states = &self.pauses.states;
        // A pause that has begun may be as long as the config before allowed.
        let mut memory = memory(&config);
        memory.idle = memory.idle.max(states.idle());
        states.set_bounds(memory);
        let pauses = self.pauses.clone();
        Self { config, pauses }
    }

    pub(super) const fn config(&self) -> &CooldownConfig {
        &self.config
    }

    pub(super) fn misordered(&self) -> &ToldOnce {
        &self.pauses.misordered
    }

    /// The pause of the request's destination, and how long it lasts still.
    #[inline]
    pub(super) fn of<B>(&self, request: &Request<B>) -> (Arc<Pause>, Option<Duration>) {
        let now = LazyCell::new(clock::now);
        let make = |name: &str| self.pauses.remembered(name);
        let pause = self.pauses.states.of(request, || *now, make);
        let rest = pause.rest(|| *now);
        (pause, rest)
    }

    pub(super) fn pauses(&self) -> &Pauses {
        &self.pauses
    }

    /// What this answer asks of every later call, if it is longer than what was asked before.
    pub(super) fn hear<R>(&self, pause: &Pause, answer: &Response<R>) -> Option<Duration> {
        if !self.config.statuses().contains(&answer.status()) {
            return None;
        }
        let left = answer.extensions().get::<Hint>().copied();
        let read = || self.config.hints().read(answer.headers(), clock::wall);
        let wait = match left.unwrap_or_else(read) {
            Hint::Wait(asked) => asked.min(self.config.max()),
            // A word about one call, or none that can be read.
            Hint::None | Hint::Exactly(_) | Hint::Stop | Hint::Unreadable => return None,
        };
        // First, so that a wait of nothing reads no clock.
        let longer = !wait.is_zero() && pause.extend(clock::now(), wait);
        longer.then_some(wait)
    }

    /// What is to be kept of a call for the observer, if there is one.
    #[inline]
    pub(super) fn told<B>(&self, request: &Request<B>) -> Option<Told> {
        self.config.observer().map(|_| Told::of(request))
    }

    #[cold]
    pub(super) fn tell_refused<B>(&self, request: &Request<B>, rest: Duration) {
        let acts = &self.config.acts;
        acts.tell_refused(request, Reason::Cooldown, Some(rest));
    }

    #[cold]
    pub(super) fn tell_began<R>(&self, told: &Told, answer: &Response<R>, wait: Duration) {
        if let Some(observer) = self.config.observer() {
            let began = CooldownBegan::new(told.subject(), answer.status(), wait);
            observer.observe(&Event::CooldownBegan(began));
        }
    }
}

/// By hand.
impl Pauses {
    pub(super) fn remaining(&self, destination: &str) -> Option<Duration> {
        let now = clock::now();
        let known = self.states.peek(destination, now);
        let known = known.or_else(|| self.by_hand().get(&*key(destination)).cloned());
        known?.rest(move || now)
    }

    pub(super) fn cool(&self, destination: &str, wait: Duration) {
        let now = clock::now();
        let mut by_hand = self.by_hand();
        by_hand.retain(|_, pause| pause.rest(|| now).is_some());
        let name = key(destination);
        // Under the lock, so that whoever forgets it in between makes it anew out of this map.
        let known = by_hand.get(&*name).cloned().unwrap_or_default();
        let pause = self.states.of_name(&name, now, |_| known);
        pause.extend(now, wait);
        by_hand.insert((*name).into(), pause);
    }

    pub(super) fn clear(&self, destination: &str) {
        let mut by_hand = self.by_hand();
        let name = key(destination);
        let known = by_hand.remove(&*name);
        let called = self.states.peek(&name, clock::now());
        for pause in known.into_iter().chain(called) {
            pause.clear();
        }
    }

    fn remembered(&self, name: &str) -> Arc<Pause> {
        self.by_hand().get(name).cloned().unwrap_or_default()
    }

    fn by_hand(&self) -> MutexGuard<'_, HashMap<Box<str>, Arc<Pause>>> {
        // Every change of the map is one step.
        self.by_hand.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A destination that nobody calls must not be forgotten before its pause is over.
fn memory(config: &CooldownConfig) -> Memory {
    let mut memory = config.memory;
    memory.idle = memory.idle.max(config.max());
    memory
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("config", &self.config)
            .field("pauses", &self.pauses.states)
            .finish_non_exhaustive()
    }
}
