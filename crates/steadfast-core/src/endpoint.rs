use std::error::Error;
use std::fmt;

use http::{Extensions, HeaderMap, Uri};

mod destination;
mod path;

use destination::Destination;
use path::Path;

/// A destination and paths of it: what rules and declarations are about.
///
/// - **Destination**: what [`destination`](crate::destination()) says of the request, in any case.
///   A port counts unless it is the scheme's own. `"*"` is any destination.
/// - **Path**: compared byte by byte, without query and without decoding. `{name}` as a whole
///   segment stands for one segment that is not empty, `{*name}` at the end for any rest, the
///   empty one included.
///
/// ```
/// use http::{Extensions, HeaderMap, Uri};
/// use steadfast_core::Endpoint;
///
/// let capture = Endpoint::new("payments.example", "/charges/{id}/capture")?;
/// let uri = Uri::from_static("https://payments.example/charges/7/capture?fast=1");
/// assert!(capture.matches(&uri, &HeaderMap::new(), &Extensions::new()));
/// assert_eq!(
///     Endpoint::new("https://payments.example", "/").unwrap_err().to_string(),
///     "'https://payments.example' is not a destination: it must be a host with an optional port, \
///      or '*'",
/// );
/// # Ok::<(), steadfast_core::InvalidEndpoint>(())
/// ```
#[derive(Clone, Debug)]
pub struct Endpoint {
    destination: Destination,
    path: Path,
}

impl Endpoint {
    /// These paths of this destination.
    ///
    /// # Errors
    ///
    /// When destination or path cannot be one.
    pub fn new(destination: &str, path: &str) -> Result<Self, InvalidEndpoint> {
        Ok(Self {
            destination: Destination::parse(destination)?,
            path: Path::parse(path)?,
        })
    }

    /// Every path of this destination.
    ///
    /// # Errors
    ///
    /// When the destination cannot be one.
    pub fn all_of(destination: &str) -> Result<Self, InvalidEndpoint> {
        Self::new(destination, "/{*any}")
    }

    /// Whether a request goes there.
    pub fn matches(&self, uri: &Uri, headers: &HeaderMap, extensions: &Extensions) -> bool {
        let destination = crate::destination(uri, headers, extensions);
        self.destination.matches(uri.scheme(), destination) && self.path.matches(uri.path())
    }
}

/// A destination, path or method that a declaration cannot have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidEndpoint {
    what: &'static str,
    value: Box<str>,
    rule: &'static str,
}

impl InvalidEndpoint {
    /// Says that `value` is not a `what`, by this rule.
    pub fn new(what: &'static str, value: &str, rule: &'static str) -> Self {
        Self {
            what,
            value: value.into(),
            rule,
        }
    }
}

impl fmt::Display for InvalidEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, value, rule } = self;
        write!(f, "'{}' is not a {what}: {rule}", value.escape_debug())
    }
}

impl Error for InvalidEndpoint {}

#[cfg(test)]
mod tests;
