use std::ops::Deref;

use axum_core::extract::FromRequestParts;
use http::request::Parts;
use steadfast_idempotency::server::{Operation, leased};

use crate::ExtractorRejection;

/// The lease of the running request: its fence, its attempt, the keys of its steps elsewhere.
///
/// For handlers behind a [`LeasedLayer`](leased::LeasedLayer), whose effects are outside
/// the database. It derefs to [`leased::Lease`].
#[derive(Clone, Debug)]
pub struct Lease(leased::Lease);

impl Lease {
    /// The lease itself, for tasks of the handler.
    pub fn into_inner(self) -> leased::Lease {
        self.0
    }
}

impl Deref for Lease {
    type Target = leased::Lease;

    fn deref(&self) -> &leased::Lease {
        &self.0
    }
}

impl<S: Sync> FromRequestParts<S> for Lease {
    type Rejection = ExtractorRejection;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        match parts.extensions.get::<leased::Lease>() {
            Some(lease) => Ok(Self(lease.clone())),
            None if parts.extensions.get::<Operation>().is_some() => {
                Err(ExtractorRejection::NotLeased)
            }
            None => Err(ExtractorRejection::NotProtected),
        }
    }
}
