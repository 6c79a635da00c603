/// What is known about whether the peer acted on a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Delivery {
    /// No byte of the request left: name resolution, connecting, a cancelled queue.
    Unsent,
    /// The peer says that it did not act: REFUSED_STREAM, GOAWAY, 425, 429.
    Unprocessed,
    /// Bytes went out and nothing certain came back: reset, timeout, 408, 500, 502, 503, 504.
    Unknown,
    /// The peer processed the request and said no.
    Answered,
}

impl Delivery {
    /// The name used in events, metrics and logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unsent => "unsent",
            Self::Unprocessed => "unprocessed",
            Self::Unknown => "unknown",
            Self::Answered => "answered",
        }
    }
}
