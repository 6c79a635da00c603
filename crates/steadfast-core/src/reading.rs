use std::cell::Cell;
use std::time::Instant;

thread_local! {
    static READING: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Does `work`, which waits for nothing, by one reading of the clock: on this thread,
/// [`now_or`] says `now` until it returns.
///
/// For a layer that has read the clock and hands the call on: the layers that the call passes in
/// the same moment need no reading of their own, and all of them work with the same instant. A
/// layer that does something lasting inside its `call` must not be handed on to in this way.
///
/// ```
/// use std::time::{Duration, Instant};
/// use steadfast_core::{at_once, now_or};
///
/// # #[allow(clippy::disallowed_methods)]
/// let now = Instant::now();
/// let later = now + Duration::from_secs(1);
/// assert_eq!(at_once(now, || now_or(|| later)), now);
/// assert_eq!(now_or(|| later), later);
/// ```
pub fn at_once<R>(now: Instant, work: impl FnOnce() -> R) -> R {
    // Given back on a panic too: the thread may serve others.
    struct Before(Option<Instant>);
    impl Drop for Before {
        fn drop(&mut self) {
            READING.set(self.0);
        }
    }
    let _before = Before(READING.replace(Some(now)));
    work()
}

/// The reading in force on this thread, for whoever can also do without one.
#[inline]
pub fn reading() -> Option<Instant> {
    READING.get()
}

/// The reading in force on this thread, or else a new one by `clock`.
pub fn now_or(clock: impl FnOnce() -> Instant) -> Instant {
    READING.get().unwrap_or_else(clock)
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;
    use std::time::Duration;

    use super::*;

    #[test]
    #[allow(clippy::disallowed_methods, reason = "any instant will do")]
    fn a_reading_ends_with_its_work_and_with_a_panic() {
        let outer = Instant::now();
        let inner = outer + Duration::from_secs(1);
        let fresh = outer + Duration::from_secs(2);
        let seen = || now_or(|| fresh);
        let all = at_once(outer, || (seen(), at_once(inner, seen), seen()));
        assert_eq!(all, (outer, inner, outer));
        assert_eq!((at_once(outer, reading), reading()), (Some(outer), None));
        let panicked = catch_unwind(|| at_once(outer, || panic!("inside")));
        assert!(panicked.is_err());
        assert_eq!(seen(), fresh);
    }
}
