//! Which errors are in a chain, and of which type?

use std::error::Error;
use std::io;
use std::sync::Arc;

/// Nothing forbids a foreign error a circular chain.
const MAX_DEPTH: usize = 64;

/// The error and what caused it, outermost first.
pub(crate) fn causes<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| cause(*error)).take(MAX_DEPTH)
}

fn cause<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    // The source of an I/O error is that of the error inside it, which would be skipped.
    match is::<io::Error>(error).and_then(io::Error::get_ref) {
        Some(inner) => Some(inner),
        None => error.source(),
    }
}

/// The error as this type, in a box or an `Arc` too: those have its source, but not its type.
pub(crate) fn is<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    if let Some(found) = error.downcast_ref::<E>() {
        return Some(found);
    }
    if let Some(found) = error.downcast_ref::<Box<E>>() {
        return Some(found);
    }
    error.downcast_ref::<Arc<E>>().map(|found| &**found)
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use super::*;

    #[derive(Debug)]
    struct Circle;

    impl fmt::Display for Circle {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("its own cause")
        }
    }

    impl Error for Circle {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(self)
        }
    }

    #[test]
    fn a_circular_chain_ends() {
        assert_eq!(causes(&Circle).count(), MAX_DEPTH);
    }

    #[test]
    fn an_error_inside_an_io_error_is_not_skipped() {
        let inner = io::Error::from(io::ErrorKind::TimedOut);
        let outer = io::Error::other(Arc::new(io::Error::other(inner)));
        let kinds = causes(&outer)
            .filter_map(is::<io::Error>)
            .map(io::Error::kind);
        let want = [
            io::ErrorKind::Other,
            io::ErrorKind::Other,
            io::ErrorKind::TimedOut,
        ];
        assert!(kinds.eq(want));
    }
}
