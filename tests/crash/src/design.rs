//! How a server keeps its keys: as the stores do, or with one of the mistakes that the checks must
//! catch.

use std::fmt;

use clap::ValueEnum;

use crate::check::Kind;

/// The design of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Design {
    /// The real layer over the real store.
    Sound,
    /// The key is written in a transaction of its own after the effect has committed.
    KeyAfterEffect,
    /// The key is in another database, which commits first.
    KeyElsewhere,
    /// No look at the record under the lock, and no constraint that would make up for it.
    NoSecondLook,
    /// The record is in the memory of one process.
    RegistryOnly,
    /// The answer leaves before the commit.
    AnswerBeforeCommit,
    /// The effect of a refused request stays: no savepoint before it.
    NoSavepoint,
    /// The effect of a failed or panicked request stays.
    NoRollback,
    /// Any request with the key gets the answer.
    NoFingerprint,
    /// A replay is made anew from the record, and not the same.
    AnswerRemade,
    /// Records are swept while clients still repeat.
    SweptTooEarly,
    /// A visible claim without an end: a crash leaves it.
    ClaimWithoutEnd,
    /// Look, act, write the key, all in the task of the connection: a client that hangs up stops
    /// it halfway. Nothing is killed in its run.
    NoTask,
    /// PostgreSQL: lock and look are one statement, which sees what was there before it had the
    /// lock; and no constraint.
    LookWithLock,
    /// PostgreSQL with `synchronous_commit = off`: a crash forgets what was acknowledged.
    CommitNotDurable,
}

impl Design {
    /// All the mistakes that can be made over an SQLite file.
    pub(crate) const FLAWED_SQLITE: [Self; 12] = [
        Self::KeyAfterEffect,
        Self::KeyElsewhere,
        Self::NoSecondLook,
        Self::RegistryOnly,
        Self::AnswerBeforeCommit,
        Self::NoSavepoint,
        Self::NoRollback,
        Self::NoFingerprint,
        Self::AnswerRemade,
        Self::SweptTooEarly,
        Self::ClaimWithoutEnd,
        Self::NoTask,
    ];

    /// Those made over PostgreSQL.
    pub(crate) const FLAWED_POSTGRES: [Self; 3] = [
        Self::KeyAfterEffect,
        Self::LookWithLock,
        Self::CommitNotDurable,
    ];

    /// What the checks must find, whatever else they find; None for the sound one.
    pub(crate) const fn gives_itself_away_by(self) -> Option<Kind> {
        Some(match self {
            Self::Sound => return None,
            Self::KeyAfterEffect
            | Self::NoSecondLook
            | Self::RegistryOnly
            | Self::SweptTooEarly
            | Self::LookWithLock
            | Self::NoTask => Kind::DuplicateEffect,
            Self::KeyElsewhere | Self::AnswerBeforeCommit | Self::CommitNotDurable => {
                Kind::LostEffect
            }
            Self::NoSavepoint | Self::NoRollback => Kind::RefusedEffect,
            Self::NoFingerprint => Kind::Disclosed,
            Self::AnswerRemade => Kind::AnswersDiffer,
            Self::ClaimWithoutEnd => Kind::NeverEnds,
        })
    }

    /// How many clients race for one key at most. Where one client alone is enough to give the
    /// mistake away, no race may do it.
    pub(crate) const fn racers(self) -> u64 {
        match self {
            Self::NoTask => 1,
            _ => 3,
        }
    }

    /// Whether processes die in its run.
    pub(crate) const fn is_killed(self) -> bool {
        !matches!(self, Self::NoTask)
    }
}

impl fmt::Display for Design {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.to_possible_value();
        f.write_str(value.as_ref().map_or("skipped", |value| value.get_name()))
    }
}
