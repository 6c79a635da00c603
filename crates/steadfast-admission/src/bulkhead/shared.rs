//! What all services of one layer share.

use std::sync::Arc;

use http::Request;
use steadfast_core::order::ToldOnce;
use steadfast_core::{Deadline, Reason};

use super::BulkheadConfig;
use super::gates::Gates;
use crate::clock;

#[derive(Debug)]
pub(super) struct Shared {
    config: BulkheadConfig,
    pub(super) gates: Arc<Gates>,
    misordered: Arc<ToldOnce>,
}

impl Shared {
    pub(super) fn new(config: BulkheadConfig) -> Self {
        Self {
            gates: Arc::new(Gates::new(&config)),
            config,
            misordered: Arc::default(),
        }
    }

    /// The same places by another config; others where its scope is another.
    pub(super) fn reconfigured(&self, config: BulkheadConfig) -> Self {
        if config.scope() != self.config.scope() {
            return Self::new(config);
        }
        self.gates.reconfigure(&config);
        Self {
            config,
            gates: self.gates.clone(),
            misordered: self.misordered.clone(),
        }
    }

    pub(super) const fn config(&self) -> &BulkheadConfig {
        &self.config
    }

    pub(super) fn misordered(&self) -> &ToldOnce {
        &self.misordered
    }

    /// Until when a call with this deadline may wait for a place; `None` where it may not.
    pub(super) fn may_wait(&self, deadline: Deadline) -> Option<Deadline> {
        // First, so that where nobody waits no clock is read.
        if !self.config.has_queue() {
            return None;
        }
        let now = clock::now();
        let until = deadline.earliest(Deadline::after(now, self.config.max_wait()));
        (!until.is_expired(now)).then_some(until)
    }

    /// Tells the observer of a refusal.
    pub(super) fn tell<B>(&self, request: &Request<B>, reason: Reason) {
        self.config.acts.tell_refused(request, reason, None);
    }
}
