use super::answer::Answer;
use super::fingerprint::Fingerprint;

/// What a store keeps under an [`Operation`](super::Operation).
///
/// The times of creation and expiry are the store's own, by its clock, and no part of it.
/// Nothing of the request is kept but its fingerprint, method and path.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Record {
    /// The layout of the record, so that a later one can tell.
    pub version: u16,
    /// What a repeat has to equal.
    pub fingerprint: Fingerprint,
    /// What a repeat is answered with.
    pub answer: Answer,
}

impl Record {
    /// The layout written today.
    pub const VERSION: u16 = 1;

    /// A record in today's layout.
    pub const fn new(fingerprint: Fingerprint, answer: Answer) -> Self {
        Self {
            version: Self::VERSION,
            fingerprint,
            answer,
        }
    }
}
