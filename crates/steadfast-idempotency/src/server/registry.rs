use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::fingerprint::Fingerprint;
use super::operation::Operation;

/// The operations that run in this process right now.
///
/// It answers concurrent duplicates without asking the database. Other processes are the
/// database's business. It holds one entry per running task, so its bound is theirs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Registry(Arc<Mutex<HashMap<Operation, Entry>>>);

#[derive(Debug)]
struct Entry {
    fingerprint: Fingerprint,
    /// The transaction is open and nothing was recorded before it. Until then nobody knows whose
    /// key it is, so that another fingerprint is no reason for a 422.
    owns: bool,
    /// Made by the first that waits; it goes with the entry, which wakes all of them.
    ended: Option<watch::Sender<()>>,
}

impl Entry {
    fn clash(&self, fingerprint: Fingerprint) -> Clash {
        match self.owns && self.fingerprint != fingerprint {
            true => Clash::OtherRequest,
            false => Clash::SameRequest,
        }
    }
}

/// A place among those that wait for an operation.
#[derive(Debug)]
pub(crate) enum Place {
    /// The receiver's sender goes when the operation ends.
    Taken(watch::Receiver<()>),
    /// It does not run in this process, or not any more.
    Elsewhere,
}

/// Who runs already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clash {
    SameRequest,
    OtherRequest,
}

impl Registry {
    /// What stands in the way of this request without a look at the database: work that owns it.
    pub(crate) fn owned(&self, operation: &Operation, fingerprint: Fingerprint) -> Option<Clash> {
        let running = self.lock();
        let entry = running.get(operation).filter(|entry| entry.owns);
        entry.map(|entry| entry.clash(fingerprint))
    }

    /// A place among those that wait for the operation's end, unless all are taken.
    pub(crate) fn wait(&self, operation: &Operation, places: usize) -> Option<Place> {
        let mut running = self.lock();
        let Some(entry) = running.get_mut(operation) else {
            return Some(Place::Elsewhere);
        };
        let ended = entry.ended.get_or_insert_with(|| watch::Sender::new(()));
        (ended.receiver_count() < places).then(|| Place::Taken(ended.subscribe()))
    }

    pub(crate) fn enter(
        &self,
        operation: &Operation,
        fingerprint: Fingerprint,
    ) -> Result<Running, Clash> {
        let mut running = self.lock();
        match running.get(operation) {
            Some(entry) => Err(entry.clash(fingerprint)),
            None => {
                let entry = Entry {
                    fingerprint,
                    owns: false,
                    ended: None,
                };
                running.insert(operation.clone(), entry);
                Ok(Running {
                    registry: self.clone(),
                    operation: operation.clone(),
                })
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Operation, Entry>> {
        // Nothing panics between two changes of the map.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An operation's entry, for as long as it runs.
#[derive(Debug)]
pub(crate) struct Running {
    registry: Registry,
    operation: Operation,
}

impl Running {
    /// The operation is this request's: it began, and nothing was recorded before.
    pub(crate) fn owns(&self) {
        if let Some(entry) = self.registry.lock().get_mut(&self.operation) {
            entry.owns = true;
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.registry.lock().remove(&self.operation);
    }
}
