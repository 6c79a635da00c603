use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use http::Request;
use steadfast_core::order::ToldOnce;
use tower_layer::Layer;

use super::circuit::Circuit;
use super::ticket::Door;
use super::{Breaker, BreakerConfig, BreakerHandle};
use crate::scope::{States, key};
use crate::shard::{shards, slot};
use crate::{Scope, clock};

/// Puts a [`Breaker`] around a service; see the [crate's page](crate).
///
/// The circuits belong to the layer's value: its clones, and every service that it makes, share
/// them.
#[derive(Clone, Debug)]
pub struct BreakerLayer {
    circuits: Arc<Circuits>,
}

/// All circuits of a layer.
#[derive(Debug)]
pub(super) struct Circuits {
    pub(super) config: Arc<BreakerConfig>,
    /// Where one circuit is for all: a door for each thread.
    one: Option<Box<[Arc<Door>]>>,
    states: States<Door>,
    /// What an operator holds open or has disabled, which outlives its destination's being idle.
    held: Mutex<HashMap<Box<str>, Arc<Circuit>>>,
    pub(super) misordered: ToldOnce,
}

impl BreakerLayer {
    /// A layer with circuits of its own.
    pub fn new(config: impl Into<Arc<BreakerConfig>>) -> Self {
        Self {
            circuits: Arc::new(Circuits::new(config.into())),
        }
    }

    /// The config.
    pub fn config(&self) -> &BreakerConfig {
        &self.circuits.config
    }

    /// To look at the circuits, and to set them by hand.
    pub fn handle(&self) -> BreakerHandle {
        BreakerHandle::new(self.circuits.clone())
    }
}

impl Default for BreakerLayer {
    fn default() -> Self {
        Self::new(BreakerConfig::default())
    }
}

impl<S> Layer<S> for BreakerLayer {
    type Service = Breaker<S>;

    fn layer(&self, inner: S) -> Breaker<S> {
        Breaker::new(inner, self.circuits.clone())
    }
}

impl Circuits {
    fn new(config: Arc<BreakerConfig>) -> Self {
        let make = || Circuit::new(config.clone(), None);
        let door = || Door(Arc::new(make()));
        let one = (config.scope == Scope::Layer).then(|| {
            let circuit = Arc::new(make());
            let door = |_| Arc::new(Door(circuit.clone()));
            (0..shards()).map(door).collect()
        });
        let states = States::new(Scope::Destination, config.max_keys, config.idle, door);
        Self {
            config,
            one,
            states,
            held: Mutex::default(),
            misordered: ToldOnce::new(),
        }
    }

    /// The circuit of a request.
    #[inline]
    pub(super) fn of<B>(&self, request: &Request<B>) -> Arc<Door> {
        match self.one() {
            Some(door) => door.clone(),
            None => self
                .states
                .of(request, clock::now, |name| Arc::new(Door(self.make(name)))),
        }
    }

    /// The circuit of a destination by its name.
    pub(super) fn of_name(&self, destination: &str) -> Arc<Circuit> {
        match self.one() {
            Some(door) => door.0.clone(),
            None => {
                let make = |name: &str| Arc::new(Door(self.make(name)));
                self.states
                    .of_name(destination, clock::now(), make)
                    .0
                    .clone()
            }
        }
    }

    #[inline]
    fn one(&self) -> Option<&Arc<Door>> {
        let doors = self.one.as_ref()?;
        Some(&doors[slot() & (doors.len() - 1)])
    }

    fn make(&self, name: &str) -> Arc<Circuit> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let held = held.get(name).cloned();
        held.unwrap_or_else(|| Arc::new(Circuit::new(self.config.clone(), Some(name))))
    }

    /// Sets a circuit by hand; `hold` keeps it until it is set otherwise.
    pub(super) fn set(&self, destination: &str, hold: bool, change: impl FnOnce(&Circuit)) {
        if let Some(door) = self.one() {
            return change(door);
        }
        let key = key(destination);
        // Under the lock, so that whoever forgets it in between makes it anew out of this map.
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = || Arc::new(Circuit::new(self.config.clone(), Some(&*key)));
        let known = held.get(&*key).cloned().unwrap_or_else(fresh);
        let door = |_: &str| Arc::new(Door(known));
        let circuit = self.states.of_name(&key, clock::now(), door).0.clone();
        match hold {
            true => drop(held.insert((*key).into(), circuit.clone())),
            false => drop(held.remove(&*key)),
        }
        drop(held);
        change(&circuit);
    }

    pub(super) fn len(&self) -> usize {
        match &self.one {
            Some(_) => 1,
            None => self.states.len(),
        }
    }
}
