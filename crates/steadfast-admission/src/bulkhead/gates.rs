//! The places of all destinations, which layers of different configs may share.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use http::Request;

use super::BulkheadConfig;
use super::gate::Gate;
use super::shares::Shares;
use crate::clock;
use crate::scope::States;

#[derive(Debug)]
pub(super) struct Gates {
    states: States<Gate>,
    /// Those given last, which every gate follows.
    limits: Mutex<Limits>,
}

#[derive(Clone, Copy, Debug)]
struct Limits {
    limit: NonZeroU32,
    places: Shares,
    queue: Shares,
}

impl Limits {
    fn of(config: &BulkheadConfig) -> Self {
        let (places, queue) = config.shares();
        let limit = config.limit();
        Self {
            limit,
            places,
            queue,
        }
    }

    const fn gate(self) -> Gate {
        Gate::new(self.places, self.queue)
    }
}

impl Gates {
    pub(super) fn new(config: &BulkheadConfig) -> Self {
        let limits = Limits::of(config);
        let one = || limits.gate();
        Self {
            states: States::new(config.memory, one),
            limits: Mutex::new(limits),
        }
    }

    /// The places of the request's destination.
    #[inline]
    pub(super) fn of<B>(&self, request: &Request<B>) -> Arc<Gate> {
        let mut made = false;
        let gate = self.states.of(request, clock::now, |_| {
            made = true;
            let limits = *self.limits();
            Arc::new(limits.gate())
        });
        if made {
            // Others may have come between its making and its place among the states.
            self.follow(&gate);
        }
        gate
    }

    /// The places of the destination with this name, if anybody has called it.
    pub(super) fn peek(&self, destination: &str) -> Option<Arc<Gate>> {
        self.states.peek(destination, clock::now())
    }

    pub(super) fn limit(&self) -> NonZeroU32 {
        self.limits().limit
    }

    /// Has every gate follow this config.
    pub(super) fn reconfigure(&self, config: &BulkheadConfig) {
        *self.limits() = Limits::of(config);
        self.states.set_bounds(config.memory);
        let mut gates = Vec::new();
        self.states.for_each(|gate| gates.push(gate.clone()));
        gates.iter().for_each(|gate| self.follow(gate));
    }

    #[cold]
    fn follow(&self, gate: &Gate) {
        let granted = {
            // Held meanwhile, so that the config given last has the last word.
            let limits = self.limits();
            gate.set_shares(limits.places, limits.queue)
        };
        granted.into_iter().flatten().for_each(Waker::wake);
    }

    fn limits(&self) -> MutexGuard<'_, Limits> {
        self.limits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
