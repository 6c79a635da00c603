use std::error::Error as StdError;
use std::fmt;

use http::StatusCode;
use steadfast_core::{BoxError, Elapsed, Failure, Rejected, Report};

/// Why a call of a [`Client`](crate::Client) has no usable answer.
///
/// Its text names no URL, which may hold a secret; the causes are in [`source`](StdError::source).
#[derive(Debug)]
pub struct Error {
    kind: Kind,
    report: Option<Report>,
    source: Option<BoxError>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Builder,
    Call,
    Status(StatusCode),
    Body,
    #[cfg(feature = "json")]
    Decode,
}

impl Error {
    pub(crate) fn builder(source: impl Into<BoxError>) -> Self {
        Self::new(Kind::Builder, source)
    }

    pub(super) fn call(source: impl Into<BoxError>) -> Self {
        Self::new(Kind::Call, source)
    }

    pub(super) fn body(source: impl Into<BoxError>) -> Self {
        Self::new(Kind::Body, source)
    }

    #[cfg(feature = "json")]
    pub(super) fn decode(source: impl Into<BoxError>) -> Self {
        Self::new(Kind::Decode, source)
    }

    pub(super) const fn status_of(status: StatusCode, report: Option<Report>) -> Self {
        Self {
            kind: Kind::Status(status),
            report,
            source: None,
        }
    }

    fn new(kind: Kind, source: impl Into<BoxError>) -> Self {
        let source = source.into();
        Self {
            kind,
            report: Failure::find(&*source).map(|failure| *failure.report()),
            source: Some(source),
        }
    }

    /// Whether there was no request to send: no URL, no header value, nothing to write as JSON.
    pub fn is_builder(&self) -> bool {
        self.kind == Kind::Builder
    }

    /// Whether the stack ended the call without an answer.
    pub fn is_call(&self) -> bool {
        self.kind == Kind::Call
    }

    /// The status that [`error_for_status`](crate::Response::error_for_status) made an error of.
    pub const fn status(&self) -> Option<StatusCode> {
        match self.kind {
            Kind::Status(status) => Some(status),
            _ => None,
        }
    }

    /// Whether the answer's body broke off.
    pub fn is_body(&self) -> bool {
        self.kind == Kind::Body
    }

    /// Whether the answer's body was not the JSON that was asked for.
    #[cfg(feature = "json")]
    pub fn is_decode(&self) -> bool {
        self.kind == Kind::Decode
    }

    /// Whether a time ended the call or its body, one of the layers' or one of reqwest's.
    pub fn is_timeout(&self) -> bool {
        let Some(source) = self.source.as_deref() else {
            return false;
        };
        Elapsed::find(source).is_some()
            || steadfast_core::chain(source)
                .filter_map(steadfast_core::downcast_ref::<reqwest::Error>)
                .any(reqwest::Error::is_timeout)
    }

    /// How the call went, where a layer said so: attempts, reason and, above all, the outcome.
    pub const fn report(&self) -> Option<&Report> {
        self.report.as_ref()
    }

    /// The layer's refusal that ended the call, if one did.
    pub fn rejected(&self) -> Option<&Rejected> {
        Rejected::find(self.source.as_deref()?)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::Builder => f.write_str("there is no request to send"),
            Kind::Call => f.write_str("the call failed"),
            Kind::Status(status) => write!(f, "the answer is {status}"),
            Kind::Body => f.write_str("the answer's body broke off"),
            #[cfg(feature = "json")]
            Kind::Decode => f.write_str("the answer's body is not the JSON that was asked for"),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        let source = self.source.as_deref()?;
        Some(source)
    }
}
