//! Which circuit is a call's, and what all circuits of a layer have in common.

use std::sync::Arc;

use http::Request;
use steadfast_core::order::ToldOnce;

use super::BreakerConfig;
use super::circuit::Circuit;
use super::ticket::Door;
use crate::shard::{shards, slot};
use crate::{Scope, clock};

mod registry;

use registry::Registry;

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

impl Circuits {
    pub(super) fn new(config: Arc<BreakerConfig>) -> Self {
        let ways = match config.memory.scope {
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
            _ if config.memory.scope != self.config.memory.scope => return Self::new(config),
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

#[cfg(all(test, loom))]
mod interleavings;
