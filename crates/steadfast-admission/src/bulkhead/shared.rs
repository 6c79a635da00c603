//! What all services of one layer share.

use std::sync::Arc;

use http::Request;
use steadfast_core::order::ToldOnce;
use steadfast_core::{
    AdmissionRefused, CallState, Deadline, Event, Reason, Safety, Subject, destination,
};

use super::BulkheadConfig;
use super::gate::Gate;
use crate::scope::States;
use crate::{Mode, clock};

#[derive(Debug)]
pub(super) struct Shared {
    config: BulkheadConfig,
    gates: States<Gate>,
    misordered: ToldOnce,
}

impl Shared {
    pub(super) fn new(config: BulkheadConfig) -> Self {
        let one = || gate(&config);
        let gates = States::new(config.scope(), config.max_keys(), config.idle(), one);
        Self {
            config,
            gates,
            misordered: ToldOnce::new(),
        }
    }

    pub(super) const fn config(&self) -> &BulkheadConfig {
        &self.config
    }

    pub(super) const fn misordered(&self) -> &ToldOnce {
        &self.misordered
    }

    /// The places of the request's destination.
    #[inline]
    pub(super) fn gate<B>(&self, request: &Request<B>) -> Arc<Gate> {
        self.gates.of(request, clock::now, |_| self.new_gate())
    }

    /// The places of the destination with this name.
    pub(super) fn gate_of(&self, destination: &str) -> Arc<Gate> {
        self.gates
            .of_name(destination, clock::now(), |_| self.new_gate())
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

    fn new_gate(&self) -> Arc<Gate> {
        Arc::new(gate(&self.config))
    }

    /// Tells the observer of a refusal.
    pub(super) fn tell<B>(&self, request: &Request<B>, reason: Reason) {
        let Some(observer) = self.config.observer() else {
            return;
        };
        let (uri, headers) = (request.uri(), request.headers());
        let said = CallState::of(request.extensions()).and_then(CallState::safety);
        let subject = Subject::new(
            destination(uri, headers, request.extensions()),
            request.method(),
            said.unwrap_or_else(|| Safety::of_method(request.method())),
        );
        let mut refused = AdmissionRefused::new(subject, reason);
        refused.enforced = self.config.mode() == Mode::Enforced;
        observer.observe(&Event::AdmissionRefused(refused));
    }
}

fn gate(config: &BulkheadConfig) -> Gate {
    let (places, queue) = config.shares();
    Gate::new(places, queue)
}
