//! Which circuit is a call's, and what all circuits of a layer have in common.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::Request;
use steadfast_core::order::ToldOnce;

use super::BreakerConfig;
use super::circuit::Circuit;
use super::ticket::Door;
use crate::scope::{States, key};
use crate::shard::{shards, slot};
use crate::{Scope, clock};

/// The circuits as the services of one layer reach them.
#[derive(Debug)]
pub(super) struct Circuits {
    pub(super) config: Arc<BreakerConfig>,
    ways: Ways,
    pub(super) misordered: Arc<ToldOnce>,
}

#[derive(Debug)]
enum Ways {
    /// One circuit for all: a door for each thread.
    One(Box<[Arc<Door>]>),
    /// Shared with the layers that this one was reconfigured from or to.
    Many(Arc<Registry>),
}

/// The circuits of destinations.
#[derive(Debug)]
struct Registry {
    doors: States<Door>,
    rules: Mutex<Rules>,
}

/// What makes a circuit: taken before any other lock.
#[derive(Debug)]
struct Rules {
    /// The config given last, which every circuit follows.
    config: Arc<BreakerConfig>,
    /// What an operator holds open or has disabled, which outlives its destination's being idle.
    held: HashMap<Box<str>, Arc<Circuit>>,
}

impl Circuits {
    pub(super) fn new(config: Arc<BreakerConfig>) -> Self {
        let ways = match config.scope {
            Scope::Layer => {
                let circuit = Arc::new(Circuit::new(config.clone(), None));
                Ways::One(doors(&config, &circuit))
            }
            Scope::Destination => Ways::Many(Arc::new(Registry::new(config.clone()))),
        };
        Self {
            config,
            ways,
            misordered: Arc::default(),
        }
    }

    /// The same circuits by the rules of another config; others where its scope is another.
    pub(super) fn reconfigured(&self, config: Arc<BreakerConfig>) -> Self {
        let ways = match &self.ways {
            _ if config.scope != self.config.scope => return Self::new(config),
            Ways::One(ways) => {
                let circuit = &ways[0].circuit;
                circuit.follow(&config, clock::now());
                circuit.tell();
                Ways::One(doors(&config, circuit))
            }
            Ways::Many(registry) => {
                registry.follow(&config);
                Ways::Many(registry.clone())
            }
        };
        Self {
            config,
            ways,
            misordered: self.misordered.clone(),
        }
    }

    /// The circuit of a request.
    #[inline]
    pub(super) fn of<B>(&self, request: &Request<B>) -> Arc<Door> {
        match &self.ways {
            Ways::One(doors) => doors[slot() & (doors.len() - 1)].clone(),
            Ways::Many(registry) => {
                let door = registry.of(request);
                match Arc::ptr_eq(&door.config, &self.config) {
                    true => door,
                    false => self.by_own_door(&door),
                }
            }
        }
    }

    /// In a layer that was reconfigured to another: its services go on judging as they did.
    #[cold]
    fn by_own_door(&self, door: &Door) -> Arc<Door> {
        Arc::new(Door {
            circuit: door.circuit.clone(),
            config: self.config.clone(),
        })
    }

    /// The circuit of a destination by its name, made if there is none.
    pub(super) fn of_name(&self, destination: &str) -> Arc<Circuit> {
        match &self.ways {
            Ways::One(doors) => doors[0].circuit.clone(),
            Ways::Many(registry) => registry.of_name(destination).circuit.clone(),
        }
    }

    /// The same, if there is one.
    pub(super) fn peek(&self, destination: &str) -> Option<Arc<Circuit>> {
        match &self.ways {
            Ways::One(doors) => Some(doors[0].circuit.clone()),
            Ways::Many(registry) => registry.peek(destination),
        }
    }

    /// Sets a circuit by hand; `hold` keeps it until it is set otherwise.
    pub(super) fn set(&self, destination: &str, hold: bool, change: impl FnOnce(&Circuit)) {
        let circuit = match &self.ways {
            Ways::One(doors) => {
                let circuit = doors[0].circuit.clone();
                change(&circuit);
                circuit
            }
            Ways::Many(registry) => registry.set(destination, hold, change),
        };
        circuit.tell();
    }

    pub(super) fn len(&self) -> usize {
        match &self.ways {
            Ways::One(_) => 1,
            Ways::Many(registry) => registry.doors.len(),
        }
    }
}

fn doors(config: &Arc<BreakerConfig>, circuit: &Arc<Circuit>) -> Box<[Arc<Door>]> {
    let door = |_| {
        Arc::new(Door {
            circuit: circuit.clone(),
            config: config.clone(),
        })
    };
    (0..shards()).map(door).collect()
}

impl Registry {
    fn new(config: Arc<BreakerConfig>) -> Self {
        Self {
            doors: States::by_destination(config.max_keys, config.idle),
            rules: Mutex::new(Rules {
                config,
                held: HashMap::new(),
            }),
        }
    }

    #[inline]
    fn of<B>(&self, request: &Request<B>) -> Arc<Door> {
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

    fn of_name(&self, destination: &str) -> Arc<Door> {
        let make = |name: &str| self.rules().door(name);
        let door = self.doors.of_name(destination, clock::now(), make);
        self.made(&door);
        door
    }

    fn peek(&self, destination: &str) -> Option<Arc<Circuit>> {
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

    fn follow(&self, config: &Arc<BreakerConfig>) {
        let mut rules = self.rules();
        // What it holds may look at the circuits when it is dropped.
        let before = std::mem::replace(&mut rules.config, config.clone());
        self.doors.set_bounds(config.max_keys, config.idle);
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

    fn set(&self, destination: &str, hold: bool, change: impl FnOnce(&Circuit)) -> Arc<Circuit> {
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

    fn rules(&self) -> MutexGuard<'_, Rules> {
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
