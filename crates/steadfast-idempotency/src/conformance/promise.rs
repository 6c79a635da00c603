use std::fmt;

use super::trial::Seen;
use super::{TxSubject, commits, cuts, ended, owners, records};

/// One promise of a [`TxStore`](crate::server::TxStore).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Promise {
    /// A record comes back field by field as it was given, from every method that gives one.
    Records,
    /// Namespace, scope and key are three fields, and compared byte by byte.
    Identity,
    /// A record that has expired is honoured for as long as it is there.
    Expired,
    /// Effect and record are seen by others after the commit, both, and not before.
    Together,
    /// What is rolled back, or dropped at any stage, leaves neither effect nor record.
    Nothing,
    /// The effect can be undone and the answer kept, also after a statement of the effect failed.
    AnswerOnly,
    /// While a transaction holds an operation nobody else gets it as fresh.
    OneOwner,
    /// Of any number that race for an operation one has its effect, and all see its record.
    Races,
    /// A transaction at one operation is never the reason for a `Busy` at another.
    OthersNotBusy,
    /// The plain read waits for no writer.
    FindWaitsForNobody,
    /// Every method can be dropped at any await; the operation is free again afterwards.
    Droppable,
    /// After a commit whose answer was lost, what `resolve` says stays so.
    Resolve,
    /// A handler that ends the transaction is found out, whatever the engine does next.
    EndedByHand,
    /// Neither the store, its transactions nor its errors show keys, scopes or bodies.
    Discreet,
}

impl Promise {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::Records,
        Self::Identity,
        Self::Expired,
        Self::Together,
        Self::Nothing,
        Self::AnswerOnly,
        Self::OneOwner,
        Self::Races,
        Self::OthersNotBusy,
        Self::FindWaitsForNobody,
        Self::Droppable,
        Self::Resolve,
        Self::EndedByHand,
        Self::Discreet,
    ];

    /// What is promised, in a few words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Records => "a record comes back as it was",
            Self::Identity => "operations are told apart byte by byte",
            Self::Expired => "an expired record is honoured until it is swept",
            Self::Together => "effect and record commit together",
            Self::Nothing => "what is not committed leaves nothing",
            Self::AnswerOnly => "the answer can be kept without its effect",
            Self::OneOwner => "an operation has one owner at a time",
            Self::Races => "a race has one effect and one record",
            Self::OthersNotBusy => "operations do not make each other busy",
            Self::FindWaitsForNobody => "the plain read waits for no writer",
            Self::Droppable => "every method can be dropped at any await",
            Self::Resolve => "what was resolved stays so",
            Self::EndedByHand => "a handler that ends the transaction is found out",
            Self::Discreet => "keys, scopes and bodies are not shown",
        }
    }

    pub(super) async fn try_on<S: TxSubject>(self, subject: &S) -> Seen {
        match self {
            Self::Records => records::come_back(subject).await,
            Self::Identity => records::are_told_apart(subject).await,
            Self::Expired => records::are_honoured(subject).await,
            Self::Together => commits::are_whole(subject).await,
            Self::Nothing => commits::leave_nothing_otherwise(subject).await,
            Self::AnswerOnly => commits::keep_the_answer_alone(subject).await,
            Self::OneOwner => owners::are_alone(subject).await,
            Self::Races => owners::win_races_once(subject).await,
            Self::OthersNotBusy => owners::leave_others_alone(subject).await,
            Self::FindWaitsForNobody => owners::are_not_waited_for(subject).await,
            Self::Droppable => cuts::free_the_operation(subject).await,
            Self::Resolve => cuts::of_a_commit_are_resolved(subject).await,
            Self::EndedByHand => ended::by_hand(subject).await,
            Self::Discreet => ended::without_words(subject).await,
        }
    }
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
