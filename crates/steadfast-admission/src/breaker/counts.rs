//! What a closed circuit counts, without a lock.
//!
//! Of two calls that end together, at least one sees both: else the circuit would open a call
//! late. What a call writes and what it reads of others is therefore sequentially consistent,
//! which costs nothing where each is a read and write in one step already.

use std::num::NonZeroU32;
use std::time::Instant;

use steadfast_core::window::{AtomicWindow, Steps};

use super::rules::{Rules, Totals, Tripped};
use super::window::Span;
use crate::shard::{shards, slot};
use crate::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use crate::sync::wrote_before_reading;

/// The calls since the circuit closed, as far as the window holds them.
#[derive(Debug)]
pub(super) struct Counts {
    over: Over,
    /// Failures since the last success.
    in_a_row: AtomicU32,
}

#[derive(Debug)]
enum Over {
    Time(Time),
    Calls(Calls),
}

/// One call that says something about the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) failed: bool,
    pub(super) slow: bool,
}

impl Counts {
    pub(super) fn new(rules: &Rules) -> Self {
        let slow = rules.slow.is_some();
        Self {
            over: match rules.window.span() {
                Span::Time(time) => Over::Time(Time::new(Steps::tenths_of(time))),
                Span::Calls(calls) => Over::Calls(Calls::new(calls, slow)),
            },
            in_a_row: AtomicU32::new(0),
        }
    }

    /// Counts a call; what opens the circuit, if that does.
    #[inline]
    pub(super) fn record(
        &self,
        rules: &Rules,
        call: Counted,
        now: impl FnOnce() -> Instant,
    ) -> Option<Tripped> {
        let in_a_row = match call.failed {
            true => self
                .in_a_row
                .fetch_add(1, Ordering::Relaxed)
                .saturating_add(1),
            false => {
                // Read first: a healthy peer's calls share this line and none has to write it.
                if self.in_a_row.load(Ordering::Relaxed) != 0 {
                    self.in_a_row.store(0, Ordering::Relaxed);
                }
                0
            }
        };
        let totals = match &self.over {
            Over::Time(time) => time.record(call, now()),
            Over::Calls(calls) => calls.record(call),
        };
        rules.trips(Totals {
            in_a_row,
            ..totals?
        })
    }
}

const STEPS: usize = 10;

/// Calls of a time, in tenths of it.
#[derive(Debug)]
struct Time {
    steps: Steps,
    /// One for each thread that calls at the same time.
    shards: Box<[Shard]>,
    /// The step of the last call that was not well, with a bit above it to tell it from none.
    last_bad: AtomicU64,
}

/// In cache lines of its own, so that two threads do not wait for each other.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Shard {
    calls: AtomicWindow<STEPS>,
    failures: AtomicWindow<STEPS>,
    slow: AtomicWindow<STEPS>,
}

const KNOWN: u64 = 1 << 32;

impl Time {
    fn new(steps: Steps) -> Self {
        Self {
            steps,
            shards: (0..shards()).map(|_| Shard::default()).collect(),
            last_bad: AtomicU64::new(0),
        }
    }

    /// Counts a call; the totals, where they could open a circuit.
    fn record(&self, call: Counted, now: Instant) -> Option<Totals> {
        let step = self.steps.at(now);
        let shard = &self.shards[slot() & (self.shards.len() - 1)];
        shard.calls.add(step);
        if call.failed {
            shard.failures.add(step);
        }
        if call.slow {
            shard.slow.add(step);
        }
        if call.failed || call.slow {
            self.last_bad
                .store(KNOWN | u64::from(step), Ordering::SeqCst);
            return Some(self.totals(step));
        }
        // A success can be the call that fills the minimum. Without a failure in the window there
        // is nothing to add up, and the others' counts stay where they are.
        wrote_before_reading();
        let last_bad = self.last_bad.load(Ordering::SeqCst);
        let recent = last_bad != 0 && step.wrapping_sub(last_bad as u32) < STEPS as u32;
        recent.then(|| self.totals(step))
    }

    fn totals(&self, step: u32) -> Totals {
        wrote_before_reading();
        let mut totals = Totals::default();
        for shard in &self.shards {
            totals.calls += shard.calls.total(step);
            totals.failures += shard.failures.total(step);
            totals.slow += shard.slow.total(step);
        }
        totals
    }
}

/// The last so many calls, a bit each.
#[derive(Debug)]
struct Calls {
    size: NonZeroU32,
    next: AtomicU64,
    failures: Bits,
    slow: Option<Bits>,
}

impl Calls {
    fn new(size: NonZeroU32, slow: bool) -> Self {
        Self {
            size,
            next: AtomicU64::new(0),
            failures: Bits::new(size),
            slow: slow.then(|| Bits::new(size)),
        }
    }

    fn record(&self, call: Counted) -> Option<Totals> {
        let nth = self.next.fetch_add(1, Ordering::SeqCst);
        let size = u64::from(self.size.get());
        let place = (nth % size) as usize;
        let failures = self.failures.put(place, call.failed);
        let slow = self.slow.as_ref().map(|bits| bits.put(place, call.slow));
        // Read last: of two that end together, the later look sees both.
        wrote_before_reading();
        let calls = self.next.load(Ordering::SeqCst).min(size);
        Some(Totals {
            calls,
            failures,
            slow: slow.unwrap_or(0),
            in_a_row: 0,
        })
    }
}

/// Bits, and how many of them are set.
#[derive(Debug)]
struct Bits {
    words: Box<[AtomicU64]>,
    set: AtomicU64,
}

impl Bits {
    fn new(size: NonZeroU32) -> Self {
        let words = size.get().div_ceil(64);
        Self {
            words: (0..words).map(|_| AtomicU64::new(0)).collect(),
            set: AtomicU64::new(0),
        }
    }

    /// Sets or clears a bit; how many are set then. Each change of a bit is counted by whoever made
    /// it, so the count is exact whatever threads do.
    fn put(&self, place: usize, bit: bool) -> u64 {
        let (word, mask) = (&self.words[place / 64], 1u64 << (place % 64));
        let was = match bit {
            true => word.fetch_or(mask, Ordering::Relaxed) & mask != 0,
            false if word.load(Ordering::Relaxed) & mask == 0 => false,
            false => word.fetch_and(!mask, Ordering::Relaxed) & mask != 0,
        };
        match (was, bit) {
            (false, true) => self.set.fetch_add(1, Ordering::SeqCst) + 1,
            (true, false) => self.set.fetch_sub(1, Ordering::SeqCst).saturating_sub(1),
            _ => {
                wrote_before_reading();
                self.set.load(Ordering::SeqCst)
            }
        }
    }
}
