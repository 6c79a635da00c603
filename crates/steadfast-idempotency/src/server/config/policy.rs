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

/// What is kept of an answer's body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoredBody {
    /// All of it. An answer over the limit is a 500 and undoes its effect. The default.
    ///
    /// Under a lease nothing can be undone, so that it is the same as
    /// [`UpToLimit`](Self::UpToLimit).
    #[default]
    Whole,
    /// All of it up to the limit; of a larger answer a tombstone.
    ///
    /// The first caller gets the whole answer. A repeat gets status and headers, `Location`
    /// included, an empty body and [`BODY_OMITTED`](crate::server::BODY_OMITTED).
    UpToLimit,
    /// Never: always a tombstone, for answers that hold secrets or are too large anyway. They are
    /// not read into memory either.
    Never,
}

/// Whether a repeat may have the answer that is kept for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Replay {
    /// It may.
    Allow,
    /// It is answered with 403 `replay-refused`, and learns nothing else.
    Refuse,
}
