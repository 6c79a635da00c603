use std::fmt;
use std::sync::Arc;

use crate::{Key, OperationKey};

/// Who asks for what once: namespace, scope and key.
///
/// The three stay separate fields from here to the store's columns, so that the pairs
/// (`a`, `b_c`) and (`a_b`, `c`) can never meet. Route and payload are no part of the identity;
/// they are in the [`Fingerprint`](super::Fingerprint).
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Operation {
    namespace: Arc<str>,
    scope: Arc<str>,
    key: Key,
}

impl Operation {
    /// The operation that `key` names for the caller `scope`.
    ///
    /// An empty scope stands for anonymous callers, which all share it.
    pub fn new(namespace: impl Into<Arc<str>>, scope: impl Into<Arc<str>>, key: &Key) -> Self {
        Self {
            namespace: namespace.into(),
            scope: scope.into(),
            key: key.clone(),
        }
    }

    /// The service, or part of one, that shares keys.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The caller that the key belongs to; empty for anonymous callers.
    pub fn scope(&self) -> &str {
        &self.scope
    }

    /// The key as the caller gave it, without quotes.
    pub const fn key(&self) -> &Key {
        &self.key
    }

    /// The key of a step that this operation makes elsewhere: the same for every run of it, and
    /// another one for every namespace, scope, key and step.
    ///
    /// The caller's own key must not travel on as it is: at the next hop our scope is one caller,
    /// so the equal keys of two of our callers would meet there.
    pub fn child(&self, step: &str) -> OperationKey {
        let scoped = OperationKey::scoped(&self.scope, &self.key);
        OperationKey::scoped(&self.namespace, scoped.as_key()).child(step)
    }
}

/// Keys and scopes may be secrets of the caller, so neither is shown.
impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operation")
            .field("namespace", &self.namespace)
            .finish_non_exhaustive()
    }
}
