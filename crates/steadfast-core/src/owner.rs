//! Who repeats a call, in one process: the outermost retry loop that can.

use std::cell::Cell;
use std::marker::PhantomData;

thread_local! {
    static OWNED: Cell<u32> = const { Cell::new(0) };
}

/// Marks what is called or polled on this thread, while the guard lives, as owned by the caller's
/// retry loop: retry layers below pass such calls through, so that attempts do not multiply.
///
/// The mark needs no allocation. It does not follow work to another task; there, and for every
/// attempt after the first, [`CallState::is_owned`](crate::CallState::is_owned) says the same.
///
/// ```
/// use steadfast_core::{is_owned, own};
///
/// assert!(!is_owned());
/// let guard = own();
/// assert!(is_owned());
/// drop(guard);
/// assert!(!is_owned());
/// ```
#[must_use = "the mark ends with the guard"]
#[inline]
pub fn own() -> Owned {
    OWNED.set(OWNED.get() + 1);
    Owned { here: PhantomData }
}

/// Whether a retry loop further out, on this thread, repeats what is called now.
#[inline]
pub fn is_owned() -> bool {
    OWNED.get() > 0
}

/// The life of a mark; see [`own`].
#[derive(Debug)]
pub struct Owned {
    // Of this thread: it must not go to another.
    here: PhantomData<*const ()>,
}

impl Drop for Owned {
    #[inline]
    fn drop(&mut self) {
        OWNED.set(OWNED.get().saturating_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    #[test]
    fn marks_nest_and_end_with_a_panic_too() {
        let outer = own();
        let inner = own();
        drop(outer);
        assert!(is_owned(), "in any order");
        drop(inner);
        assert!(!is_owned());
        assert!(
            catch_unwind(|| {
                let _owned = own();
                panic!("inside")
            })
            .is_err()
        );
        assert!(!is_owned());
    }
}
