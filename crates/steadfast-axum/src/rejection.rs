use std::fmt;

use axum_core::response::{IntoResponse, Response};
use http::StatusCode;
use steadfast_idempotency::server::TransactionUnavailable;

use crate::problem::details;

/// An extractor of this crate on a request that cannot serve it: a mistake of the server's own
/// wiring, so 500.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExtractorRejection {
    /// The request did not come through an `IdempotencyLayer`, or passed it unprotected: a safe
    /// method, a method not configured, or an optional key that was not sent.
    NotProtected,
    /// It came through a layer whose store has transactions of another type, or none: leases.
    OtherStore,
    /// It came through a layer whose effects are in a transaction, and has no lease.
    NotLeased,
    /// The transaction is taken, or over.
    Unavailable(TransactionUnavailable),
}

impl ExtractorRejection {
    const fn code(self) -> &'static str {
        match self {
            Self::NotProtected => "not-protected",
            Self::OtherStore => "other-store",
            Self::NotLeased => "not-leased",
            Self::Unavailable(_) => "transaction-unavailable",
        }
    }
}

impl fmt::Display for ExtractorRejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotProtected => f.write_str(
                "no idempotency layer protects this request: put an `IdempotencyLayer` on the \
                 route, and require a key where the handler extracts one",
            ),
            Self::OtherStore => f.write_str(
                "the idempotency layer on this route has a store with transactions of another \
                 type than the handler extracts, or with leases",
            ),
            Self::NotLeased => f.write_str(
                "the idempotency layer on this route is transactional: its handlers have a \
                 transaction and no lease",
            ),
            Self::Unavailable(unavailable) => unavailable.fmt(f),
        }
    }
}

impl std::error::Error for ExtractorRejection {}

impl IntoResponse for ExtractorRejection {
    fn into_response(self) -> Response {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        details(status, self.code(), &self.to_string())
    }
}
