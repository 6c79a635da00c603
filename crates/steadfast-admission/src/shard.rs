//! A place for each thread, so that threads which call at once do not write the same line.

#[cfg(not(loom))]
use std::cell::Cell;
use std::sync::OnceLock;
#[cfg(not(loom))]
use std::sync::{Mutex, PoisonError};

/// How many places there are: a power of two, as many as threads run at once here, up to 8.
pub(crate) fn shards() -> usize {
    static SHARDS: OnceLock<usize> = OnceLock::new();
    if cfg!(loom) {
        return 2;
    }
    *SHARDS.get_or_init(|| {
        let threads = std::thread::available_parallelism();
        threads.map_or(1, |threads| threads.get().next_power_of_two().min(8))
    })
}

/// The same of loom's threads, which are all one thread of the system's: by their numbers.
#[cfg(loom)]
pub(crate) fn slot() -> usize {
    let number = format!("{:?}", loom::thread::current().id());
    number.bytes().map(usize::from).sum()
}

/// This thread's place; to be taken modulo [`shards`].
#[cfg(not(loom))]
#[inline]
pub(crate) fn slot() -> usize {
    thread_local! {
        static SLOT: Cell<Option<usize>> = const { Cell::new(None) };
    }
    SLOT.get().unwrap_or_else(|| {
        let slot = claim();
        SLOT.set(Some(slot));
        slot
    })
}

#[cfg(not(loom))]
/// Takes the lowest number that no living thread has: of a few threads no two meet.
#[cold]
fn claim() -> usize {
    thread_local! {
        static CLAIM: Claim = Claim::new();
    }
    CLAIM.try_with(|claim| claim.0).unwrap_or(0)
}

#[cfg(not(loom))]
struct Claim(usize);

#[cfg(not(loom))]
static TAKEN: Mutex<Vec<bool>> = Mutex::new(Vec::new());

#[cfg(not(loom))]
impl Claim {
    fn new() -> Self {
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        let free = taken.iter().position(|taken| !taken);
        let slot = free.unwrap_or(taken.len());
        match free {
            Some(slot) => taken[slot] = true,
            None => taken.push(true),
        }
        Self(slot)
    }
}

#[cfg(not(loom))]
impl Drop for Claim {
    fn drop(&mut self) {
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        taken[self.0] = false;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

    use std::sync::Barrier;

    use super::*;

    #[test]
    fn living_threads_have_different_places() {
        let barrier = Barrier::new(8);
        let mut slots: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        let slot = slot();
                        barrier.wait();
                        slot
                    })
                })
                .collect();
            threads.into_iter().map(|it| it.join().unwrap()).collect()
        });
        slots.sort_unstable();
        slots.dedup();
        assert_eq!(slots.len(), 8);
    }
}
