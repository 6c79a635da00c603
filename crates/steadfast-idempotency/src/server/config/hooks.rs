use std::future::Future;
use std::sync::Arc;

use http::Uri;
use http::request::Parts;

use super::{IdempotencyConfig, Replay};
use crate::server::fingerprint::Fingerprint;
use crate::server::record::Record;

/// Functions of the user's own.
impl IdempotencyConfig {
    /// Sets who is asked before a kept answer is given to a repeat. Default: nobody, so that the
    /// authentication outside of the layer decides alone.
    ///
    /// The head of the repeat and the record go in. A caller whose grant was revoked since may
    /// still pass authentication, and must not read what it could not do any more.
    #[must_use]
    pub fn with_before_replay<F, Fut>(mut self, before: F) -> Self
    where
        F: Fn(Parts, Record) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Replay> + Send + 'static,
    {
        self.before_replay = Some(Arc::new(move |parts, record| {
            Box::pin(before(parts, record))
        }));
        self
    }

    /// Sets where the request was aimed before a router rewrote its target. Default: the target
    /// that the layer sees, which nested routers have shortened; then equal inner paths under two
    /// prefixes would pass for one route. `steadfast-axum` has the function for axum.
    #[must_use]
    pub fn with_target<F>(mut self, target: F) -> Self
    where
        F: Fn(&Parts) -> Option<Uri> + Send + Sync + 'static,
    {
        self.target = Some(Arc::new(target));
        self
    }

    /// Sets what a repeat has to equal: head, original target and body in, fingerprint out.
    /// Default [`Fingerprint::of_request`].
    #[must_use]
    pub fn with_fingerprint<F>(mut self, fingerprint: F) -> Self
    where
        F: Fn(&Parts, &Uri, &[u8]) -> Fingerprint + Send + Sync + 'static,
    {
        self.fingerprint = Some(Arc::new(fingerprint));
        self
    }
}
