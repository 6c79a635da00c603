use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::fingerprint::Fingerprint;
use super::operation::Operation;

/// The operations that run in this process right now.
///
/// It answers concurrent duplicates without asking the database. Other processes are the
/// database's business. It holds one entry per running task, so its bound is theirs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Registry(Arc<Mutex<HashMap<Operation, Fingerprint>>>);

/// Who runs already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clash {
    SameRequest,
    OtherRequest,
}

impl Registry {
    pub(crate) fn enter(
        &self,
        operation: &Operation,
        fingerprint: Fingerprint,
    ) -> Result<Running, Clash> {
        let mut running = self.lock();
        match running.get(operation) {
            Some(other) if *other == fingerprint => Err(Clash::SameRequest),
            Some(_) => Err(Clash::OtherRequest),
            None => {
                running.insert(operation.clone(), fingerprint);
                Ok(Running {
                    registry: self.clone(),
                    operation: operation.clone(),
                })
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Operation, Fingerprint>> {
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

impl Drop for Running {
    fn drop(&mut self) {
        self.registry.lock().remove(&self.operation);
    }
}
