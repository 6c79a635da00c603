use std::error::Error;
use std::io;

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
        self.next = match error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref)
        {
            Some(carried) => Some(carried),
            None => error.source(),
        };
        Some(error)
    }
}

/// The first error of type `E` in the chain that begins with `error`.
pub(crate) fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    chain(error).find_map(|cause| cause.downcast_ref())
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
}
