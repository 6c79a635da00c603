//! The circuits of destinations, and the rules that they follow.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use http::Request;

use crate::breaker::BreakerConfig;
use crate::breaker::circuit::Circuit;
use crate::breaker::ticket::Door;
use crate::clock;
use crate::scope::{States, key};
use crate::sync::{Mutex, MutexGuard};

/// Shared by a layer and those that were reconfigured from it.
#[derive(Debug)]
pub(super) struct Registry {
    pub(super) doors: States<Door>,
    rules: Mutex<Rules>,
}

/// What makes a circuit: taken before any other lock.
#[derive(Debug)]
pub(super) struct Rules {
    /// The config given last, which every circuit follows.
    config: Arc<BreakerConfig>,
    /// What an operator holds open or has disabled, which outlives its destination's being idle.
    pub(super) held: HashMap<Box<str>, Arc<Circuit>>,
}

impl Registry {
    pub(super) fn new(config: Arc<BreakerConfig>) -> Self {
        Self {
            doors: States::by_destination(config.memory),
            rules: Mutex::new(Rules {
                config,
                held: HashMap::new(),
            }),
        }
    }

    #[inline]
    pub(super) fn of<B>(&self, request: &Request<B>) -> Arc<Door> {
        let mut made = false;
        let door = self.doors.of(request, clock::now, |name| {
            made = true;
            self.rules().door(name)
        });
        if made {
            self.made(&door);
        }
        door
    }

    pub(super) fn of_name(&self, destination: &str) -> Arc<Door> {
        let make = |name: &str| self.rules().door(name);
        let door = self.doors.of_name(destination, clock::now(), make);
        self.made(&door);
        door
    }

    pub(super) fn peek(&self, destination: &str) -> Option<Arc<Circuit>> {
        let door = self.doors.peek(destination, clock::now());
        let known = door.map(|door| door.circuit.clone());
        known.or_else(|| self.rules().held.get(&*key(destination)).cloned())
    }

    /// Another config may have come between a door's making and its place in the registry.
    #[cold]
    fn made(&self, door: &Door) {
        let config = self.rules().config.clone();
        if !Arc::ptr_eq(&door.config, &config) {
            self.refresh(self.rules());
        }
    }

    pub(super) fn follow(&self, config: &Arc<BreakerConfig>) {
        let mut rules = self.rules();
        // What it holds may look at the circuits when it is dropped.
        let before = std::mem::replace(&mut rules.config, config.clone());
        self.doors.set_bounds(config.memory);
        self.refresh(rules);
        drop(before);
    }

    /// Has every door and every circuit follow the config given last.
    fn refresh(&self, rules: MutexGuard<'_, Rules>) {
        let mut circuits: Vec<_> = rules.held.values().cloned().collect();
        let mut before = Vec::new();
        self.doors.for_each(|door| {
            if !Arc::ptr_eq(&door.config, &rules.config) {
                circuits.push(door.circuit.clone());
                let circuit = door.circuit.clone();
                let config = rules.config.clone();
                before.push(std::mem::replace(door, Arc::new(Door { circuit, config })));
            }
        });
        let now = clock::now();
        for circuit in &circuits {
            circuit.follow(&rules.config, now);
        }
        // Observers, and whatever the configs before hold, may look at the circuits.
        drop(rules);
        drop(before);
        circuits.iter().for_each(|circuit| circuit.tell());
    }

    pub(super) fn set(
        &self,
        destination: &str,
        hold: bool,
        change: impl FnOnce(&Circuit),
    ) -> Arc<Circuit> {
        let key = key(destination);
        // Under the lock, so that whoever forgets it in between makes it anew out of this map, and
        // that of two operators one comes after the other.
        let mut rules = self.rules();
        let known = rules.door(&key);
        let door = self.doors.of_name(&key, clock::now(), |_| known);
        let circuit = door.circuit.clone();
        match hold {
            true => drop(rules.held.insert((*key).into(), circuit.clone())),
            false => drop(rules.held.remove(&*key)),
        }
        circuit.follow(&rules.config, clock::now());
        change(&circuit);
        circuit
    }

    pub(super) fn rules(&self) -> MutexGuard<'_, Rules> {
        // Every change under it is one step.
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rules {
    fn door(&self, name: &str) -> Arc<Door> {
        let fresh = || {
            let named = Some(name).filter(|name| !name.is_empty());
            Arc::new(Circuit::new(self.config.clone(), named))
        };
        let held = self.held.get(name).cloned();
        Arc::new(Door {
            circuit: held.unwrap_or_else(fresh),
            config: self.config.clone(),
        })
    }
}
