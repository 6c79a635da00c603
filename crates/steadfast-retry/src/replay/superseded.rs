use std::error::Error;
use std::fmt;

/// The error of a request body whose call has begun a later attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Superseded;

impl fmt::Display for Superseded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a later attempt of the same call is sending this body")
    }
}

impl Error for Superseded {}
