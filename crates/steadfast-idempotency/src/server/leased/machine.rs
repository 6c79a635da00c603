//! What becomes of an operation under leases. Pure: a store brings the state, the time by its own
//! clock and the next fence, and keeps what comes out.

use std::time::Duration;

use super::claim::{Claim, ClaimId, Claimed, Fenced, OnExpired, Seen, Terms};
use super::fence::Fence;
use crate::server::fingerprint::Fingerprint;
use crate::server::record::Record;

#[cfg(test)]
mod tests;

/// What is kept of an operation; nothing at all is kept of one that was never claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kept {
    /// The last fence given out.
    pub(super) fence: Fence,
    /// How many were.
    pub(super) attempt: u32,
    pub(super) phase: Phase,
    /// When it may be forgotten.
    pub(super) expires: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// The last owner has said that nothing happened. Kept for its fence alone.
    Free,
    Running {
        owner: ClaimId,
        fingerprint: Fingerprint,
        until: Duration,
    },
    Unknown {
        fingerprint: Fingerprint,
    },
    Done(Record),
}

/// What an owner says of the operation that it claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "lives for one match")]
pub(super) enum Word {
    /// I am still at it.
    Renew,
    /// It is done, and this is the answer.
    Complete(Record),
    /// Nothing happened: run it again.
    Release,
    /// I do not know what happened.
    Abandon,
}

/// One claim: what is kept from now on, and what the claimant is told. `next` is larger than every
/// fence given before.
pub(super) fn claim(
    kept: Option<Kept>,
    now: Duration,
    claim: &Claim,
    next: Fence,
) -> (Option<Kept>, Claimed) {
    let Some(kept) = kept else {
        return run(0, now, claim, next);
    };
    match &kept.phase {
        Phase::Free => run(kept.attempt, now, claim, next),
        // Its own claim, of which the answer was lost.
        Phase::Running { owner, .. } if *owner == claim.id => run_on(kept, now, claim),
        Phase::Running { fingerprint, .. } | Phase::Unknown { fingerprint }
            if *fingerprint != claim.fingerprint =>
        {
            (Some(kept), Claimed::Reused)
        }
        Phase::Running { until, .. } if now < *until => {
            let left = *until - now;
            (Some(kept), Claimed::Running { left })
        }
        Phase::Running { .. } | Phase::Unknown { .. } => match claim.on_expired {
            OnExpired::TakeOver => run(kept.attempt, now, claim, next),
            OnExpired::Unknown => {
                let (fence, attempt) = (kept.fence, kept.attempt);
                let fingerprint = claim.fingerprint;
                let kept = Kept {
                    phase: Phase::Unknown { fingerprint },
                    expires: now + claim.terms.lifetime(),
                    ..kept
                };
                (Some(kept), Claimed::Unknown { fence, attempt })
            }
        },
        Phase::Done(record) => {
            let claimed = match record.fingerprint == claim.fingerprint {
                true => Claimed::Done(record.clone()),
                false => Claimed::Reused,
            };
            (Some(kept), claimed)
        }
    }
}

fn run(before: u32, now: Duration, claim: &Claim, fence: Fence) -> (Option<Kept>, Claimed) {
    let attempt = before.saturating_add(1);
    let kept = Kept {
        fence,
        attempt,
        phase: Phase::Running {
            owner: claim.id,
            fingerprint: claim.fingerprint,
            until: now + claim.terms.lease(),
        },
        expires: now + claim.terms.lifetime(),
    };
    (Some(kept), Claimed::Held { fence, attempt })
}

fn run_on(mut kept: Kept, now: Duration, claim: &Claim) -> (Option<Kept>, Claimed) {
    if let Phase::Running { until, .. } = &mut kept.phase {
        *until = now + claim.terms.lease();
    }
    kept.expires = now + claim.terms.lifetime();
    let (fence, attempt) = (kept.fence, kept.attempt);
    (Some(kept), Claimed::Held { fence, attempt })
}

/// One word of the claim with `fence`: what is kept from now on, and whether it was heard.
///
/// A lease that has ended is still its owner's until somebody else claims: nobody else has run, so
/// the owner's word is the truth. It even settles an operation that was given up as unknown.
pub(super) fn say(
    kept: Option<Kept>,
    now: Duration,
    fence: Fence,
    word: Word,
    terms: Terms,
) -> (Option<Kept>, Fenced) {
    let Some(mut kept) = kept else {
        return (None, Fenced::Rejected);
    };
    if kept.fence != fence {
        return (Some(kept), Fenced::Rejected);
    }
    let phase = match (&kept.phase, word) {
        (
            Phase::Running {
                owner, fingerprint, ..
            },
            Word::Renew,
        ) => Phase::Running {
            owner: *owner,
            fingerprint: *fingerprint,
            until: now + terms.lease(),
        },
        (Phase::Running { .. } | Phase::Unknown { .. }, Word::Complete(record)) => {
            Phase::Done(record)
        }
        (Phase::Running { .. } | Phase::Unknown { .. }, Word::Release) => Phase::Free,
        (Phase::Running { fingerprint, .. } | Phase::Unknown { fingerprint }, Word::Abandon) => {
            Phase::Unknown {
                fingerprint: *fingerprint,
            }
        }
        // Said before, and the answer was lost.
        (Phase::Done(_), Word::Complete(_)) | (Phase::Free, Word::Release) => {
            return (Some(kept), Fenced::Accepted);
        }
        _ => return (Some(kept), Fenced::Rejected),
    };
    kept.phase = phase;
    kept.expires = now + terms.lifetime();
    (Some(kept), Fenced::Accepted)
}

/// A plain look, which changes nothing.
pub(super) fn look(kept: &Kept, now: Duration) -> Option<Seen> {
    let (fence, attempt) = (kept.fence, kept.attempt);
    match &kept.phase {
        Phase::Free => None,
        Phase::Running {
            fingerprint, until, ..
        } => Some(Seen::Running {
            fingerprint: *fingerprint,
            fence,
            attempt,
            left: until.saturating_sub(now),
        }),
        Phase::Unknown { fingerprint } => Some(Seen::Unknown {
            fingerprint: *fingerprint,
            fence,
            attempt,
        }),
        Phase::Done(record) => Some(Seen::Done(record.clone())),
    }
}
