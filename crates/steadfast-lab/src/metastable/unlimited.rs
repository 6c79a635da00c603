use std::time::Instant;

use steadfast::Budget;
use steadfast::budget::{Ask, Ending, Permit, Sending};

/// What most retry loops have: never spent.
#[derive(Debug)]
pub(super) struct Unlimited;

impl Budget for Unlimited {
    fn on_call(&self, _: Instant) {}

    fn on_outcome(&self, _: Sending, _: Ending, _: Instant) {}

    fn reserve(&self, _: Ask) -> Option<Permit> {
        Some(Permit::free())
    }
}
