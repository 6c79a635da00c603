/// What a request without a key is, on a method that the layer protects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyPolicy {
    /// Refused with 400 `key-missing`. The default.
    #[default]
    Required,
    /// Passed on untouched and unprotected, without a transaction.
    Optional,
}

/// What a request without a scope is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AnonymousKeys {
    /// Refused with 403 `scope-missing`. The default.
    #[default]
    Refuse,
    /// All such callers share one scope. Keys must have 16 characters or more, so that strangers
    /// do not meet by chance; whoever learns a key can still read its answer.
    Allow,
}
