use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::time::Duration;

/// A starting point of a client's policy, by what its calls are for.
///
/// | profile | call limit | attempt timeout | attempts | backoff base → cap |
/// |---|---|---|---|---|
/// | `default` | 30 s | 10 s | 3 | 50 ms → 20 s |
/// | `interactive_read` | 3 s | 1 s | 3 | 50 ms → 1 s |
/// | `interactive_write` | 5 s | 2 s | 3 | 100 ms → 2 s |
/// | `payment` | 20 s | 8 s | 4 | 250 ms → 5 s |
/// | `background` | 5 min | 30 s | 8 | 1 s → 60 s |
/// | `polling` | 30 min | 10 s | until the deadline | 1 s → 30 s, the server's pace |
///
/// ```
/// use std::time::Duration;
/// use steadfast::client::{Draft, Profile};
///
/// let draft = Draft::of(Profile::InteractiveWrite);
/// assert_eq!(draft.call_limit(), Duration::from_secs(5));
/// assert_eq!(draft.attempt_timeout(), Duration::from_secs(2));
/// assert_eq!(draft.retry().max_attempts().get(), 3);
/// assert_eq!("interactive_write".parse(), Ok(Profile::InteractiveWrite));
/// assert_eq!(
///     "interactive".parse::<Profile>().unwrap_err().to_string(),
///     "'interactive' is not a profile: default, interactive_read, interactive_write, payment, \
///      background or polling",
/// );
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Profile {
    /// Nothing is known of the calls.
    #[default]
    Default,
    /// Somebody waits in front of a screen for something to be shown.
    InteractiveRead,
    /// Somebody waits for something to be done.
    InteractiveWrite,
    /// Money moves: each call on a declared route must bring its own
    /// [`OperationKey`](crate::idempotency::OperationKey), which outlives the process, and at least
    /// one route must be declared.
    Payment,
    /// Nobody waits.
    Background,
    /// Asks until something is there, at the pace that the server sets.
    Polling,
}

/// What a profile says of time and attempts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    pub(super) call_limit: Duration,
    pub(super) attempt_timeout: Duration,
    pub(super) attempts: NonZeroU32,
    pub(super) base: Duration,
    pub(super) cap: Duration,
}

impl Profile {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Default,
        Self::InteractiveRead,
        Self::InteractiveWrite,
        Self::Payment,
        Self::Background,
        Self::Polling,
    ];

    /// Its name in a file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::InteractiveRead => "interactive_read",
            Self::InteractiveWrite => "interactive_write",
            Self::Payment => "payment",
            Self::Background => "background",
            Self::Polling => "polling",
        }
    }

    pub(super) const fn pace(self) -> Pace {
        // Limit and timeout in seconds, attempts, base and cap in milliseconds.
        let (limit, timeout, attempts, base, cap) = match self {
            Self::Default => (30, 10, 3, 50, 20_000),
            Self::InteractiveRead => (3, 1, 3, 50, 1_000),
            Self::InteractiveWrite => (5, 2, 3, 100, 2_000),
            Self::Payment => (20, 8, 4, 250, 5_000),
            Self::Background => (300, 30, 8, 1_000, 60_000),
            Self::Polling => (1_800, 10, u32::MAX, 1_000, 30_000),
        };
        Pace {
            call_limit: Duration::from_secs(limit),
            attempt_timeout: Duration::from_secs(timeout),
            attempts: NonZeroU32::new(attempts).expect("no profile makes no attempt"),
            base: Duration::from_millis(base),
            cap: Duration::from_millis(cap),
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Profile {
    type Err = UnknownProfile;

    fn from_str(name: &str) -> Result<Self, UnknownProfile> {
        let known = Self::ALL.into_iter().find(|known| known.as_str() == name);
        known.ok_or_else(|| UnknownProfile(name.into()))
    }
}

/// A name that is no [`Profile`]'s.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownProfile(Box<str>);

impl fmt::Display for UnknownProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.0.escape_debug();
        write!(f, "'{name}' is not a profile: ")?;
        let [first @ .., before, last] = Profile::ALL;
        for profile in first {
            write!(f, "{profile}, ")?;
        }
        write!(f, "{before} or {last}")
    }
}

impl std::error::Error for UnknownProfile {}
