use std::fmt;

use super::trial::Tried;
use super::{LeaseSubject, answers, fences, history, holders};

/// One promise of a [`LeaseStore`](crate::server::leased::LeaseStore).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Promise {
    /// A record comes back field by field as it was given, from a claim and from a look.
    Records,
    /// Namespace, scope and key are three fields, and compared byte by byte.
    Identity,
    /// Of any number that race for an operation one holds it.
    OneHolder,
    /// A lease that ended is taken over by one, who is told that it is not the first.
    TakenOver,
    /// Where nobody may take over, a lease that ended leaves an unknown outcome to everybody.
    Unknown,
    /// A renewed lease holds on.
    Renewed,
    /// An operation is never forgotten together with its lease.
    Remembered,
    /// Of an older claim no word is heard.
    Fenced,
    /// Fences grow over releases, take-overs and what was forgotten.
    FencesGrow,
    /// A late word of the last claim is heard, also of an operation that was given up.
    LateWord,
    /// Another request neither runs nor changes anything.
    OtherRequest,
    /// What was said and not answered can be said again.
    SaidAgain,
    /// Long histories of claims and words go as in the store in memory.
    Histories,
    /// Neither the store nor its errors show keys, scopes or bodies.
    Discreet,
}

impl Promise {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::Records,
        Self::Identity,
        Self::OneHolder,
        Self::TakenOver,
        Self::Unknown,
        Self::Renewed,
        Self::Remembered,
        Self::Fenced,
        Self::FencesGrow,
        Self::LateWord,
        Self::OtherRequest,
        Self::SaidAgain,
        Self::Histories,
        Self::Discreet,
    ];

    /// What is promised, in a few words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Records => "a record comes back as it was",
            Self::Identity => "operations are told apart byte by byte",
            Self::OneHolder => "a race has one holder",
            Self::TakenOver => "a lease that ended is taken over once",
            Self::Unknown => "a lost outcome is unknown to everybody",
            Self::Renewed => "a renewed lease holds on",
            Self::Remembered => "an operation outlives its lease",
            Self::Fenced => "an older claim is not heard",
            Self::FencesGrow => "fences grow",
            Self::LateWord => "the last claim is heard late",
            Self::OtherRequest => "another request changes nothing",
            Self::SaidAgain => "what was said can be said again",
            Self::Histories => "histories go as in memory",
            Self::Discreet => "secrets are not shown",
        }
    }

    pub(super) async fn try_on<S: LeaseSubject>(self, subject: &S) -> Tried {
        match self {
            Self::Records => answers::records(subject).await,
            Self::Identity => answers::identity(subject).await,
            Self::OneHolder => holders::one_holder(subject).await,
            Self::TakenOver => holders::taken_over(subject).await,
            Self::Unknown => holders::unknown(subject).await,
            Self::Renewed => holders::renewed(subject).await,
            Self::Remembered => holders::remembered(subject).await,
            Self::Fenced => fences::fenced(subject).await,
            Self::FencesGrow => fences::grow(subject).await,
            Self::LateWord => fences::late_word(subject).await,
            Self::OtherRequest => answers::other_request(subject).await,
            Self::SaidAgain => fences::said_again(subject).await,
            Self::Histories => history::histories(subject).await,
            Self::Discreet => answers::discreet(subject).await,
        }
    }
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
