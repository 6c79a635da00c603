use std::error::Error;
use std::fmt;
use std::time::Duration;

use crate::server::registry::Clash;
use crate::server::store::{StoreError, StoreErrorKind};

/// Why an operation has no answer.
///
/// In a transaction what the handler did is rolled back, but: after
/// [`StoreUnavailable`](Self::StoreUnavailable) and [`Interrupted`](Self::Interrupted) effect and
/// record may both be committed, which a repeat will show; after
/// [`TransactionEnded`](Self::TransactionEnded) nobody can know. Under a lease what it did stays,
/// and the policy says what a repeat does.
#[derive(Debug)]
#[non_exhaustive]
pub enum Refused {
    /// The same request is running: come back.
    InProgress,
    /// The key was used for another request, which is neither run nor disclosed.
    KeyReused,
    /// The key was made before what is remembered began, and nothing is kept of it.
    KeyExpired,
    /// An earlier run was lost, and what it did is not known.
    OutcomeUnknown,
    /// The store failed before, during or after the handler: come back.
    StoreUnavailable(StoreError),
    /// The work took longer than its limit and was dropped.
    WorkLimit(Duration),
    /// The work panicked.
    Panicked,
    /// The work finished while a guard of its transaction was still out.
    TransactionNotReturned,
    /// The work wants its effect committed but never took the transaction.
    TransactionNotUsed,
    /// The handler ended the transaction by hand.
    TransactionEnded(StoreError),
    /// The runtime ended the task.
    Interrupted,
}

impl From<Clash> for Refused {
    fn from(clash: Clash) -> Self {
        match clash {
            Clash::SameRequest => Self::InProgress,
            Clash::OtherRequest => Self::KeyReused,
        }
    }
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        match error.kind() {
            StoreErrorKind::Unavailable => Self::StoreUnavailable(error),
            StoreErrorKind::TransactionEnded => Self::TransactionEnded(error),
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InProgress => f.write_str("the operation is in progress"),
            Self::KeyReused => f.write_str("the key was used for another request"),
            Self::KeyExpired => f.write_str("the key is older than what is remembered"),
            Self::OutcomeUnknown => f.write_str("the outcome of an earlier run is unknown"),
            Self::StoreUnavailable(error) | Self::TransactionEnded(error) => error.fmt(f),
            Self::WorkLimit(limit) => write!(f, "the work took longer than {limit:?}"),
            Self::Panicked => f.write_str("the work panicked"),
            Self::TransactionNotReturned => {
                f.write_str("the work finished without giving its transaction back")
            }
            Self::TransactionNotUsed => {
                f.write_str("the work succeeded without using its transaction")
            }
            Self::Interrupted => f.write_str("the runtime ended the work"),
        }
    }
}

impl Error for Refused {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::StoreUnavailable(error) | Self::TransactionEnded(error) => error.source(),
            _ => None,
        }
    }
}
