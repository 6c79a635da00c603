use std::error::Error;
use std::fmt;

use steadfast_core::Elapsed;

/// A response body that did not go on, or did not end, in time.
///
/// Its source is the [`Elapsed`], which says which limit it was. The answer's head had come, so
/// the peer did act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyTimeoutError {
    elapsed: Elapsed,
}

impl BodyTimeoutError {
    pub(super) const fn new(elapsed: Elapsed) -> Self {
        Self { elapsed }
    }

    /// Which limit it was, and how long.
    pub const fn elapsed(&self) -> Elapsed {
        self.elapsed
    }
}

impl fmt::Display for BodyTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the response body was cut off")
    }
}

impl Error for BodyTimeoutError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.elapsed)
    }
}
