//! The machine under its lock, and what is held of it.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use steadfast_core::Criticality;

use super::machine::{Arrival, Machine, Ticket};
use super::shares::Shares;

/// The places of one destination.
#[derive(Debug)]
pub(super) struct Gate(Mutex<Machine<Option<Waker>>>);

/// A place, given back when it is dropped.
pub(super) struct Permit(Arc<Gate>);

/// A place in the queue: left when it is dropped, and what it was given by then is passed on.
pub(super) struct Queued {
    gate: Arc<Gate>,
    // Gone once the permit was taken.
    ticket: Option<Ticket>,
}

/// What becomes of a call that may wait.
pub(super) enum Arrived {
    Entered(Permit),
    Queued(Queued),
    Full,
}

impl Gate {
    pub(super) const fn new(places: Shares, queue: Shares) -> Self {
        Self(Mutex::new(Machine::new(places, queue)))
    }

    /// A place at once, or the gate back.
    #[inline]
    pub(super) fn enter(self: Arc<Self>, criticality: Criticality) -> Result<Permit, Arc<Self>> {
        match self.with(|machine| machine.enter(criticality)) {
            true => Ok(Permit(self)),
            false => Err(self),
        }
    }

    /// A place, or else one in the queue.
    pub(super) fn arrive(self: Arc<Self>, criticality: Criticality) -> Arrived {
        // In one look: a place that is given back in between would wake nobody.
        match self.with(|machine| machine.arrive(criticality, None)) {
            Arrival::Entered => Arrived::Entered(Permit(self)),
            Arrival::Queued(ticket) => Arrived::Queued(Queued {
                gate: self,
                ticket: Some(ticket),
            }),
            Arrival::Full => Arrived::Full,
        }
    }

    /// Sets how places and queue are shared from now on; whom to wake then.
    pub(super) fn set_shares(&self, places: Shares, queue: Shares) -> Vec<Option<Waker>> {
        self.with(|machine| machine.set_shares(places, queue))
    }

    /// How many places are taken, and how many calls wait for one.
    pub(super) fn counts(&self) -> (usize, usize) {
        self.with(|machine| (machine.in_flight() as usize, machine.waiting()))
    }

    #[inline]
    fn release(&self) {
        if let Some(Some(next)) = self.with(Machine::release) {
            next.wake();
        }
    }

    /// No waker is woken or dropped in `f`: either may run a task's code, which may come here.
    #[inline]
    fn with<R>(&self, f: impl FnOnce(&mut Machine<Option<Waker>>) -> R) -> R {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Queued {
    /// The permit once it is this one's turn. Not to be polled again then.
    pub(super) fn poll_permit(&mut self, cx: &mut Context<'_>) -> Poll<Permit> {
        let Some(ticket) = self.ticket else {
            return Poll::Pending;
        };
        let waker = cx.waker().clone();
        let before = self.gate.with(|machine| machine.renew(ticket, Some(waker)));
        match before {
            Some(_) => Poll::Pending,
            None => {
                self.ticket = None;
                Poll::Ready(Permit(self.gate.clone()))
            }
        }
    }
}

impl Drop for Permit {
    #[inline]
    fn drop(&mut self) {
        self.0.release();
    }
}

impl Drop for Queued {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            let waker = self.gate.with(|machine| machine.withdraw(ticket));
            if waker.is_none() {
                self.gate.release();
            }
        }
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Permit")
    }
}
