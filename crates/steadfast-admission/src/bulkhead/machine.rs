//! Who goes out, who waits and who is next: plain data, without a clock or a lock.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use steadfast_core::Criticality;

use super::shares::Shares;

/// The places of one destination and the queue for them.
///
/// Between two events, no waiter that a place is open to waits: an arrival enters only where none
/// of its own criticality or above can be waiting for the same place, and each place that is
/// given back goes to the first waiter at once.
#[derive(Debug)]
pub(super) struct Machine<W> {
    places: Shares,
    queue: Shares,
    in_flight: u32,
    waiting: BTreeMap<Ticket, W>,
    arrivals: u64,
}

/// A waiter's place in the queue: before all that matter less, after those that came before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ticket {
    criticality: Reverse<Criticality>,
    number: u64,
}

/// What becomes of a call that may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// It holds a place.
    Entered,
    /// It will hold one once its ticket is [no longer waiting](Machine::renew).
    Queued(Ticket),
    /// There is no room to wait either.
    Full,
}

impl<W> Machine<W> {
    pub(super) const fn new(places: Shares, queue: Shares) -> Self {
        Self {
            places,
            queue,
            in_flight: 0,
            waiting: BTreeMap::new(),
            arrivals: 0,
        }
    }

    /// Takes a place for a call, if one is open to it.
    #[inline]
    pub(super) fn enter(&mut self, criticality: Criticality) -> bool {
        let enters = self.in_flight < self.places.open_to(criticality);
        self.in_flight += u32::from(enters);
        enters
    }

    /// Takes a place, or else one in the queue, where `waiter` waits.
    pub(super) fn arrive(&mut self, criticality: Criticality, waiter: W) -> Arrival {
        if self.enter(criticality) {
            return Arrival::Entered;
        }
        // Where no place is ever open to a call, the queue is not either: the shares are alike.
        if self.waiting() >= self.queue.open_to(criticality) as usize {
            return Arrival::Full;
        }
        let ticket = Ticket {
            criticality: Reverse(criticality),
            number: self.arrivals,
        };
        self.arrivals += 1;
        self.waiting.insert(ticket, waiter);
        Arrival::Queued(ticket)
    }

    /// Puts another waiter behind a ticket and gives the one before; `None` where the ticket got
    /// its place.
    pub(super) fn renew(&mut self, ticket: Ticket, waiter: W) -> Option<W> {
        let before = self.waiting.get_mut(&ticket)?;
        Some(std::mem::replace(before, waiter))
    }

    /// Takes a waiter out of the queue; `None` where the ticket got its place, which is then to
    /// be [given back](Self::release).
    pub(super) fn withdraw(&mut self, ticket: Ticket) -> Option<W> {
        self.waiting.remove(&ticket)
    }

    /// Takes a place back, and gives it to the first waiter that it is open to.
    #[inline]
    pub(super) fn release(&mut self) -> Option<W> {
        self.in_flight -= 1;
        self.grant()
    }

    /// Sets how places and queue are shared from now on. Who has a place keeps it, and who waits
    /// keeps theirs in the queue; those that a place is open to now have it.
    pub(super) fn set_shares(&mut self, places: Shares, queue: Shares) -> Vec<W> {
        (self.places, self.queue) = (places, queue);
        std::iter::from_fn(|| self.grant()).collect()
    }

    #[inline]
    fn grant(&mut self) -> Option<W> {
        // Nobody further back is let in where the first is not: shares shrink down the queue.
        let first = self.waiting.first_entry()?;
        let open = self.places.open_to(first.key().criticality.0);
        if self.in_flight >= open {
            return None;
        }
        self.in_flight += 1;
        Some(first.remove())
    }

    pub(super) const fn in_flight(&self) -> u32 {
        self.in_flight
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests;
