use std::error::Error;
use std::io;
use std::sync::Arc;

/// The errors from `error` down through its causes, each once.
///
/// Unlike a plain walk of [`Error::source`], it also stops at what a [`std::io::Error`] carries:
/// that type's `source` skips the error it was made of. Ends after 64 errors, since nothing
/// forbids a foreign error a circular chain.
///
/// ```
/// use std::io;
/// use steadfast_core::{Reason, Rejected, chain};
///
/// let error = io::Error::other(Rejected::new(Reason::CircuitOpen));
/// assert!(chain(&error).any(|cause| cause.is::<Rejected>()));
/// ```
pub fn chain<'a>(error: &'a (dyn Error + 'static)) -> Chain<'a> {
    Chain {
        next: Some(error),
        left: MAX_DEPTH,
    }
}

const MAX_DEPTH: usize = 64;

/// An iterator over an error and its causes; see [`chain`].
#[derive(Clone, Debug)]
pub struct Chain<'a> {
    next: Option<&'a (dyn Error + 'static)>,
    left: usize,
}

impl<'a> Iterator for Chain<'a> {
    type Item = &'a (dyn Error + 'static);

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let error = self.next?;
        self.next = match downcast_ref::<io::Error>(error).and_then(io::Error::get_ref) {
            Some(carried) => Some(carried),
            None => error.source(),
        };
        Some(error)
    }
}

/// The error as an `E`, also where it stands in a box or an [`Arc`]: those have the source of
/// what is inside, but not its type.
///
/// ```
/// use std::io;
/// use std::sync::Arc;
/// use steadfast_core::{Reason, Rejected, chain, downcast_ref};
///
/// let shared = Arc::new(Rejected::new(Reason::CircuitOpen));
/// let error = io::Error::other(shared);
/// assert!(!chain(&error).any(|cause| cause.is::<Rejected>()));
/// assert!(chain(&error).find_map(downcast_ref::<Rejected>).is_some());
/// assert!(Rejected::find(&error).is_some());
/// ```
pub fn downcast_ref<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    if let Some(found) = error.downcast_ref::<E>() {
        return Some(found);
    }
    if let Some(found) = error.downcast_ref::<Box<E>>() {
        return Some(found);
    }
    error.downcast_ref::<Arc<E>>().map(|found| &**found)
}

/// The first error of type `E` in the chain that begins with `error`.
pub(crate) fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    chain(error).find_map(downcast_ref)
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use super::*;

    #[derive(Debug)]
    struct Circular;

    impl fmt::Display for Circular {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("circular")
        }
    }

    impl Error for Circular {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(self)
        }
    }

    #[test]
    fn a_circular_chain_ends() {
        assert_eq!(chain(&Circular).count(), MAX_DEPTH);
    }

    #[test]
    fn what_an_io_error_carries_is_seen_and_so_are_its_causes() {
        let inner = io::Error::from(io::ErrorKind::ConnectionReset);
        let nested = io::Error::other(io::Error::other(inner));
        let kinds: Vec<_> = chain(&nested)
            .map(|cause| cause.downcast_ref::<io::Error>().unwrap().kind())
            .collect();
        use io::ErrorKind::{ConnectionReset, Other};
        assert_eq!(kinds, [Other, Other, ConnectionReset]);
    }

    #[test]
    fn an_io_error_that_is_shared_hides_nothing() {
        let inner = io::Error::from(io::ErrorKind::TimedOut);
        let outer = io::Error::other(Arc::new(io::Error::other(inner)));
        let kinds = chain(&outer)
            .filter_map(downcast_ref::<io::Error>)
            .map(io::Error::kind);
        let want = [
            io::ErrorKind::Other,
            io::ErrorKind::Other,
            io::ErrorKind::TimedOut,
        ];
        assert!(kinds.eq(want));
    }

    #[test]
    fn errors_of_ours_are_found_in_boxes_and_behind_arcs() {
        use crate::{Reason, Rejected};
        let rejected = Rejected::new(Reason::CircuitOpen);
        let boxed: Box<Rejected> = Box::new(rejected);
        for error in [
            io::Error::other(rejected),
            io::Error::other(Arc::new(rejected)),
            io::Error::other(boxed),
        ] {
            assert_eq!(
                Rejected::find(&error).map(Rejected::reason),
                Some(Reason::CircuitOpen)
            );
        }
    }
}
