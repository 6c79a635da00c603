use steadfast::Safety;

use super::{Keys, Payments};
use crate::python::PythonRandom;

/// How a server treats keys, and what its client was told of that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    /// No keys, and a client that was told that repeats are safe.
    NoKeys,
    /// The charge, then the key.
    KeyAfterCharge,
    /// Both in one transaction.
    KeyInSameTransaction,
    /// No keys, and a client that was told nothing.
    NoKeysDefault,
    /// The key with its answer, then the charge.
    KeyBeforeCharge,
    /// The key as *processing*, then the charge and the answer in one transaction; a repeat takes
    /// over what a crash left behind.
    Processing,
    /// Both in one transaction, after a look at the keys outside of it: an attempt that still runs
    /// is not seen.
    Overlapping,
    /// The same with the set of those in flight: they are answered 409.
    InFlightSet,
}

impl Server {
    /// The three of seed A's table.
    pub const TABLE: [Self; 3] = [
        Self::NoKeys,
        Self::KeyAfterCharge,
        Self::KeyInSameTransaction,
    ];

    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::NoKeys,
        Self::KeyAfterCharge,
        Self::KeyInSameTransaction,
        Self::NoKeysDefault,
        Self::KeyBeforeCharge,
        Self::Processing,
        Self::Overlapping,
        Self::InFlightSet,
    ];

    /// Its name in tables and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoKeys => "none",
            Self::KeyAfterCharge => "key-after-charge",
            Self::KeyInSameTransaction => "key-in-same-txn",
            Self::NoKeysDefault => "none-no-repeat",
            Self::KeyBeforeCharge => "key-before-charge",
            Self::Processing => "processing-state",
            Self::Overlapping => "overlapping",
            Self::InFlightSet => "in-flight-set",
        }
    }

    /// What the client was told of a repeat.
    pub(super) const fn safety(self) -> Safety {
        match self {
            Self::NoKeys => Safety::Idempotent,
            Self::NoKeysDefault => Safety::Unprotected,
            _ => Safety::Keyed,
        }
    }
}

/// What a client sees of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Receipt,
    /// A timeout: lost, crashed, or not done yet.
    Nothing,
    /// 409.
    Conflict,
}

/// What is known of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Record {
    Processing,
    Completed,
}

/// A server, its ledger and its keys.
#[derive(Debug)]
pub(super) struct Model {
    server: Server,
    settings: Payments,
    ledger: Vec<u32>,
    keys: Keys,
    /// The attempt that still runs: clients come one after the other, so there is one at most.
    running: Option<u32>,
    conflicts: u64,
}

impl Model {
    pub(super) fn new(server: Server, settings: Payments) -> Self {
        Self {
            server,
            settings,
            ledger: Vec::new(),
            keys: Keys::new(),
            running: None,
            conflicts: 0,
        }
    }

    pub(super) const fn server(&self) -> Server {
        self.server
    }

    /// The orders that were charged, in turn.
    pub(super) fn ledger(&self) -> &[u32] {
        &self.ledger
    }

    pub(super) const fn conflicts(&self) -> u64 {
        self.conflicts
    }

    /// One attempt. The draws come in the order of the seed's program.
    pub(super) fn charge(
        &mut self,
        key: Option<u128>,
        order: u32,
        random: &mut PythonRandom,
    ) -> Answer {
        let known = key.and_then(|key| self.keys.get(&key).copied());
        if known == Some(Record::Completed) {
            // A replay is not lost, as in the seed's program.
            return Answer::Receipt;
        }
        match self.server {
            Server::NoKeys | Server::NoKeysDefault => self.ledger.push(order),
            Server::KeyInSameTransaction => self.commit(key, order),
            Server::KeyAfterCharge => {
                self.ledger.push(order);
                if random.random() < self.settings.crash_gap {
                    return Answer::Nothing;
                }
                self.remember(key, Record::Completed);
            }
            Server::KeyBeforeCharge => {
                self.remember(key, Record::Completed);
                if random.random() < self.settings.crash_gap {
                    return Answer::Nothing;
                }
                self.ledger.push(order);
            }
            Server::Processing => {
                if known.is_none() {
                    self.remember(key, Record::Processing);
                    if random.random() < self.settings.crash_gap {
                        return Answer::Nothing;
                    }
                }
                self.commit(key, order);
            }
            Server::Overlapping => {
                if self.outlives_its_client(order, random) {
                    return Answer::Nothing;
                }
                self.commit(key, order);
                // The first attempt comes to its end, and does not look again.
                if let Some(running) = self.running.take() {
                    self.ledger.push(running);
                }
            }
            Server::InFlightSet => {
                if let Some(running) = self.running.take() {
                    // It ends while this client waits to come back.
                    self.commit(key, running);
                    self.conflicts += 1;
                    return Answer::Conflict;
                }
                if self.outlives_its_client(order, random) {
                    return Answer::Nothing;
                }
                self.commit(key, order);
            }
        }
        if random.random() < self.settings.reply_loss {
            Answer::Nothing
        } else {
            Answer::Receipt
        }
    }

    /// Charge and key, both or neither.
    fn commit(&mut self, key: Option<u128>, order: u32) {
        self.ledger.push(order);
        self.remember(key, Record::Completed);
    }

    fn remember(&mut self, key: Option<u128>, record: Record) {
        if let Some(key) = key {
            self.keys.insert(key, record);
        }
    }

    /// Whether this attempt still runs when its client comes back.
    fn outlives_its_client(&mut self, order: u32, random: &mut PythonRandom) -> bool {
        let outlives = self.running.is_none() && random.random() < self.settings.overlap;
        if outlives {
            self.running = Some(order);
        }
        outlives
    }
}
