use crate::{Delivery, Reason};

/// What the outcome of one attempt means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The answer that the caller wanted.
    Success,
    /// A failure that may be gone at the next attempt.
    Transient(Delivery),
    /// A refusal by the protocol itself, before any processing: REFUSED_STREAM, GOAWAY above our
    /// stream (RFC 9113 §8.7). Repeated once at once, outside the attempt count.
    Refused,
    /// A failure that a repeat would meet again.
    Permanent(Delivery),
    /// The peer's own word against a repeat (`x-should-retry: false` and its like).
    PeerSaidNo(Delivery),
    /// A layer of ours refused the attempt: nothing was sent, and the call stops.
    Rejected(Reason),
}

impl Verdict {
    /// What is known about whether the peer acted; `None` for a success.
    #[inline]
    pub const fn delivery(self) -> Option<Delivery> {
        match self {
            Self::Success => None,
            Self::Transient(delivery) | Self::Permanent(delivery) | Self::PeerSaidNo(delivery) => {
                Some(delivery)
            }
            Self::Refused => Some(Delivery::Unprocessed),
            Self::Rejected(_) => Some(Delivery::Unsent),
        }
    }

    /// Whether this is a success.
    #[inline]
    pub const fn is_success(self) -> bool {
        matches!(self, Self::Success)
    }
}
