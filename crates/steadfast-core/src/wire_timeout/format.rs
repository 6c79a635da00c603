use std::time::Duration;

/// How a header writes the time that is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TimeoutFormat {
    /// `grpc-timeout` (gRPC over HTTP/2, "Requests"): 1 to 8 digits and one of `H`, `M`, `S`, `m`,
    /// `u`, `n`. At most 99,999,999 hours.
    Grpc,
    /// `connect-timeout-ms` (Connect protocol, "Unary-Request"): milliseconds in 1 to 10 digits.
    /// At most 115 days.
    Connect,
    /// Whole milliseconds in decimal digits, as Envoy writes them.
    Millis,
    /// Whole seconds in decimal digits.
    Seconds,
}

impl TimeoutFormat {
    /// Every format.
    pub const ALL: [Self; 4] = [Self::Grpc, Self::Connect, Self::Millis, Self::Seconds];

    /// The longest time that can be written; longer ones are written as this one.
    pub const fn longest(self) -> Duration {
        match self {
            Self::Grpc => Duration::from_secs(MAX_GRPC * 3_600),
            Self::Connect => Duration::from_millis(MAX_CONNECT),
            Self::Millis => Duration::from_millis(u64::MAX),
            Self::Seconds => Duration::from_secs(u64::MAX),
        }
    }
}

/// The largest number of 8 digits.
pub(super) const MAX_GRPC: u64 = 99_999_999;

/// The largest number of 10 digits.
pub(super) const MAX_CONNECT: u64 = 9_999_999_999;

/// The units of `grpc-timeout`, finest first: the letter and the nanoseconds in one.
pub(super) const GRPC_UNITS: [(u8, u64); 6] = [
    (b'n', 1),
    (b'u', 1_000),
    (b'm', 1_000_000),
    (b'S', 1_000_000_000),
    (b'M', 60 * 1_000_000_000),
    (b'H', 3_600 * 1_000_000_000),
];
