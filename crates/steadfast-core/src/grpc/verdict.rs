use super::Code;
use crate::{Delivery, Verdict};

/// The codes that a repeat may cure: `UNAVAILABLE` alone by default, as the specification of the
/// codes advises. A small set by value.
///
/// ```
/// use steadfast_core::grpc::{Code, RetryableCodes};
///
/// let codes = RetryableCodes::default();
/// assert!(Code::ALL.iter().all(|code| codes.contains(*code) == (*code == Code::Unavailable)));
/// assert!(codes.with(Code::ResourceExhausted).contains(Code::ResourceExhausted));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RetryableCodes(u32);

impl Default for RetryableCodes {
    fn default() -> Self {
        Self::NONE.with(Code::Unavailable)
    }
}

impl RetryableCodes {
    /// No code.
    pub const NONE: Self = Self(0);

    /// This code too. `OK` is a success in any set.
    #[must_use]
    pub const fn with(self, code: Code) -> Self {
        Self(self.0 | 1 << code.number())
    }

    /// All but this code.
    #[must_use]
    pub const fn without(self, code: Code) -> Self {
        Self(self.0 & !(1 << code.number()))
    }

    /// Whether a repeat may cure this code.
    pub const fn contains(self, code: Code) -> bool {
        self.0 & (1 << code.number()) != 0
    }
}

impl Code {
    /// What an attempt that ended with this code means.
    ///
    /// A code says little about delivery: gRPC libraries make most of them up themselves when a
    /// stream breaks. So `retryable` codes are transient with *unknown* delivery, and a method
    /// that was not declared idempotent is not repeated. The others are permanent: known to be
    /// answered where the code is a no (`NOT_FOUND`, `ABORTED`), unknown where it tells of an
    /// accident (`INTERNAL`, `DEADLINE_EXCEEDED`).
    pub const fn verdict(self, retryable: RetryableCodes) -> Verdict {
        match self {
            Self::Ok => Verdict::Success,
            code if retryable.contains(code) => Verdict::Transient(Delivery::Unknown),
            Self::Cancelled
            | Self::Unknown
            | Self::DeadlineExceeded
            | Self::Internal
            | Self::Unavailable
            | Self::DataLoss => Verdict::Permanent(Delivery::Unknown),
            Self::InvalidArgument
            | Self::NotFound
            | Self::AlreadyExists
            | Self::PermissionDenied
            | Self::ResourceExhausted
            | Self::FailedPrecondition
            | Self::Aborted
            | Self::OutOfRange
            | Self::Unimplemented
            | Self::Unauthenticated => Verdict::Permanent(Delivery::Answered),
        }
    }
}
