use std::fmt;
use std::time::Duration;

use uuid::Uuid;

use super::fence::Fence;
use crate::server::fingerprint::Fingerprint;
use crate::server::record::Record;

/// A request to be the only one that runs an operation, for the time of a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Claim {
    /// Who asks. The same id again is the same claim, whose first answer was lost.
    pub id: ClaimId,
    /// What a repeat has to equal.
    pub fingerprint: Fingerprint,
    /// How long it holds, and how long the store remembers.
    pub terms: Terms,
    /// What a lease that ended without a word leaves behind.
    pub on_expired: OnExpired,
}

impl Claim {
    /// A claim with an id that nobody else has.
    pub fn new(fingerprint: Fingerprint, terms: Terms, on_expired: OnExpired) -> Self {
        Self {
            id: ClaimId(Uuid::new_v4().into_bytes()),
            fingerprint,
            terms,
            on_expired,
        }
    }
}

/// Who asks, at random.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClaimId([u8; 16]);

impl ClaimId {
    /// The id as a store keeps it.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Debug for ClaimId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClaimId")
    }
}

/// Two times that a store measures by its own clock.
///
/// Both lie between 30 ms and 100 years, so that a store can add them to any date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    lease: Duration,
    retention: Duration,
}

const SHORTEST: Duration = Duration::from_millis(30);
const LONGEST: Duration = Duration::from_secs(100 * 366 * 24 * 60 * 60);

impl Terms {
    /// Terms, brought inside their bounds.
    pub fn new(lease: Duration, retention: Duration) -> Self {
        Self {
            lease: lease.clamp(SHORTEST, LONGEST),
            retention: retention.clamp(SHORTEST, LONGEST),
        }
    }

    /// How long a claim holds without renewal.
    pub const fn lease(&self) -> Duration {
        self.lease
    }

    /// How long an answer is remembered at least.
    pub const fn retention(&self) -> Duration {
        self.retention
    }

    /// How long a record lives from its last change: the one rule for all its states. A record
    /// always outlives its lease by the retention, so that an owner that died is never forgotten
    /// together with its lease.
    pub const fn lifetime(&self) -> Duration {
        self.retention.saturating_add(self.lease)
    }
}

/// What a lease that ended without a word leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnExpired {
    /// The next claim takes the operation over and runs it again.
    TakeOver,
    /// Nobody knows what its owner did: the operation waits to be resolved.
    Unknown,
}

/// How a claim found its operation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "lives for one match")]
#[non_exhaustive]
pub enum Claimed {
    /// The caller runs it, and nobody else while the lease holds.
    Held {
        /// This claim's number.
        fence: Fence,
        /// How many claims there were, this one included.
        attempt: u32,
    },
    /// Somebody runs it.
    Running {
        /// What is left of the lease.
        left: Duration,
    },
    /// It was done, and this is what was kept.
    Done(Record),
    /// An owner was lost and what it did is not known.
    Unknown {
        /// The lost claim's number, which settles it.
        fence: Fence,
        /// How many claims there were.
        attempt: u32,
    },
    /// It belongs to another request.
    Reused,
}

/// What a plain look sees of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Seen {
    /// Somebody runs it, or did until it was lost.
    Running {
        /// Its request.
        fingerprint: Fingerprint,
        /// Its claim's number.
        fence: Fence,
        /// How many claims there were.
        attempt: u32,
        /// What is left of the lease; zero once it has ended.
        left: Duration,
    },
    /// Its outcome is unknown.
    Unknown {
        /// Its request.
        fingerprint: Fingerprint,
        /// The lost claim's number.
        fence: Fence,
        /// How many claims there were.
        attempt: u32,
    },
    /// It was done.
    Done(Record),
}

/// Whether a change was made by who may make it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fenced {
    /// The fence was the last one given, and the change is made, now or by an earlier call of
    /// which the answer was lost.
    Accepted,
    /// Somebody else has claimed since, or the operation is settled. Nothing changed.
    Rejected,
}
