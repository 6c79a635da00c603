//! Orders that are charged over a network that loses answers: who is charged twice, and who never?
//!
//! The servers are models, most of them wrong on purpose; which attempt is repeated is
//! [`decide`]'s word, as in production.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use steadfast::budget::Permit;
use steadfast::decide::{Decision, Situation, Terms, decide};
use steadfast::{Backoff, Delivery, Safety, Verdict};

use crate::amplify::failed;
use crate::python::PythonRandom;

mod server;

pub use server::Server;
use server::{Answer, Model};

/// What is simulated.
///
/// ```
/// use steadfast_lab::payments::{Payments, Server};
///
/// let outcome = Payments::default().run(Server::KeyAfterCharge, 42);
/// assert_eq!((outcome.charges, outcome.duplicates, outcome.unknown), (2057, 57, 0));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Payments {
    /// Orders, one call each. Default: 2,000.
    pub orders: u32,
    /// Attempts of each call, the first included. Default: 4.
    pub attempts: NonZeroU32,
    /// The probability that an answer is lost. Default: 0.15.
    pub reply_loss: f64,
    /// The probability that the server dies between its two steps. Default: 0.03.
    pub crash_gap: f64,
    /// The probability that an attempt still runs when its client repeats it, for the servers that
    /// look at this. Default: 0.05.
    pub overlap: f64,
}

impl Default for Payments {
    fn default() -> Self {
        Self {
            orders: 2_000,
            attempts: NonZeroU32::MIN.saturating_add(3),
            reply_loss: 0.15,
            crash_gap: 0.03,
            overlap: 0.05,
        }
    }
}

/// What became of the orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Rows of the ledger.
    pub charges: u64,
    /// Rows beyond the first of an order.
    pub duplicates: u64,
    /// Orders whose client was left without an answer.
    pub unknown: u64,
    /// Orders that were answered with a receipt, and never charged.
    pub uncharged: u64,
    /// Attempts that were told that the first one still runs.
    pub conflicts: u64,
}

impl Payments {
    /// Runs it. The same seed has the same outcome.
    pub fn run(&self, server: Server, seed: u64) -> Outcome {
        let mut terms = Terms::default();
        terms.max_attempts = self.attempts;
        terms.backoff = Backoff::default().with_base(Duration::ZERO);
        let mut run = Run {
            terms,
            now: tokio::time::Instant::now().into_std(),
            random: PythonRandom::seeded(seed),
            model: Model::new(server, *self),
        };
        let mut unknown = 0;
        let mut answered = Vec::new();
        for order in 0..self.orders {
            if run.pay(order) {
                answered.push(order);
            } else {
                unknown += 1;
            }
        }
        let ledger = run.model.ledger();
        let charged: HashSet<_> = ledger.iter().copied().collect();
        let uncharged = answered.iter().filter(|order| !charged.contains(order));
        Outcome {
            charges: ledger.len() as u64,
            duplicates: (ledger.len() - charged.len()) as u64,
            unknown,
            uncharged: uncharged.count() as u64,
            conflicts: run.model.conflicts(),
        }
    }
}

struct Run {
    terms: Terms,
    now: Instant,
    random: PythonRandom,
    model: Model,
}

impl Run {
    /// One call; whether it was answered.
    fn pay(&mut self, order: u32) -> bool {
        let server = self.model.server();
        let safety = server.safety();
        let key = (safety == Safety::Keyed).then(|| self.random.bits_128());
        for attempts in 1.. {
            let answer = self.model.charge(key, order, &mut self.random);
            let verdict = match answer {
                Answer::Receipt => Verdict::Success,
                Answer::Nothing => Verdict::Transient(Delivery::Unknown),
                // With a key after an unknown attempt: the first one still runs.
                Answer::Conflict => Verdict::Transient(Delivery::Unprocessed),
            };
            let situation = Situation {
                verdict,
                safety,
                ..failed(self.now, attempts)
            };
            match decide(&self.terms, &situation, || 0.0, || Some(Permit::free())) {
                Decision::Done => return true,
                Decision::Stop(_) => return false,
                Decision::Retry(_) => {}
            }
        }
        false
    }
}

/// What a server remembers of a key.
type Keys = HashMap<u128, server::Record>;
