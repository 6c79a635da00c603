use axum_core::extract::{FromRequestParts, OptionalFromRequestParts};
use http::request::Parts;
use steadfast_idempotency::server::Operation;
use steadfast_idempotency::{Key, OperationKey};

use crate::ExtractorRejection;

/// The idempotency key of the running request, parsed and scoped by the layer.
#[derive(Clone, Debug)]
pub struct IdempotencyKey(Operation);

impl IdempotencyKey {
    /// The key as the caller chose it: unique for that caller, not for others.
    pub const fn key(&self) -> &Key {
        self.0.key()
    }

    /// The caller that the key belongs to; empty for anonymous callers.
    pub fn scope(&self) -> &str {
        self.0.scope()
    }

    /// Namespace, scope and key.
    pub const fn operation(&self) -> &Operation {
        &self.0
    }

    /// The key for a step that the handler makes elsewhere; see [`Operation::child`].
    pub fn child(&self, step: &str) -> OperationKey {
        self.0.child(step)
    }
}

impl<S: Sync> FromRequestParts<S> for IdempotencyKey {
    type Rejection = ExtractorRejection;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        let operation = parts.extensions.get::<Operation>();
        operation
            .map(|operation| Self(operation.clone()))
            .ok_or(ExtractorRejection::NotProtected)
    }
}

/// `None` where no layer protects the request, or where an optional key was not sent.
impl<S: Sync> OptionalFromRequestParts<S> for IdempotencyKey {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Option<Self>, Self::Rejection> {
        Ok(parts.extensions.get().cloned().map(Self))
    }
}
