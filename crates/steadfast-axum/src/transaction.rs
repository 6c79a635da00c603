use std::fmt;
use std::ops::{Deref, DerefMut};

use axum_core::extract::{FromRequestParts, OptionalFromRequestParts};
use http::request::Parts;
use steadfast_idempotency::server::{self, Operation, TransactionSlot};

use crate::ExtractorRejection;

/// The transaction of the running request, for the length of the handler.
///
/// `Tx` is the transaction type of the layer's store, `SqliteTx` for one. What the handler writes
/// through it commits together with the key and the answer, after the handler has returned; there
/// is no commit to call.
pub struct Transaction<Tx>(server::Transaction<Tx>);

impl<Tx, S> FromRequestParts<S> for Transaction<Tx>
where
    Tx: Send + 'static,
    S: Sync,
{
    type Rejection = ExtractorRejection;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        match parts.extensions.get::<TransactionSlot<Tx>>() {
            Some(slot) => slot
                .take()
                .map(Self)
                .map_err(ExtractorRejection::Unavailable),
            None if parts.extensions.get::<Operation>().is_some() => {
                Err(ExtractorRejection::OtherStore)
            }
            None => Err(ExtractorRejection::NotProtected),
        }
    }
}

/// `None` where no layer protects the request, or where an optional key was not sent. A transaction
/// that should be there and is not rejects, as it does without `Option`.
impl<Tx, S> OptionalFromRequestParts<S> for Transaction<Tx>
where
    Tx: Send + 'static,
    S: Sync,
{
    type Rejection = ExtractorRejection;

    async fn from_request_parts(
        parts: &mut Parts,
        state: &S,
    ) -> Result<Option<Self>, Self::Rejection> {
        match <Self as FromRequestParts<S>>::from_request_parts(parts, state).await {
            Ok(transaction) => Ok(Some(transaction)),
            Err(ExtractorRejection::NotProtected) => Ok(None),
            Err(rejection) => Err(rejection),
        }
    }
}

impl<Tx> Deref for Transaction<Tx> {
    type Target = Tx;

    fn deref(&self) -> &Tx {
        &self.0
    }
}

impl<Tx> DerefMut for Transaction<Tx> {
    fn deref_mut(&mut self) -> &mut Tx {
        &mut self.0
    }
}

impl<Tx> fmt::Debug for Transaction<Tx> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transaction").finish_non_exhaustive()
    }
}
