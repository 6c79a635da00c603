use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use steadfast_core::{HintSource, Hints, Observe};

use crate::settings::{Acts, Memory};
use crate::{Mode, Scope};

/// The statuses whose hint is about the host: 429, the rate is over (RFC 6585 §4), and 503, the
/// service is out (RFC 9110 §15.6.4). The other answers that may carry one speak of this request:
/// a redirect, a 202 that is polled, a 413.
pub const DEFAULT_STATUSES: [StatusCode; 2] = [
    StatusCode::TOO_MANY_REQUESTS,
    StatusCode::SERVICE_UNAVAILABLE,
];
/// The longest pause that an answer can cause: 60 s. A rate counted by the minute is honoured
/// whole; a host that asks for more is asked again once a minute; and one hostile or mistaken
/// answer takes a destination away for a minute at most.
pub const DEFAULT_MAX: Duration = Duration::from_secs(60);

/// What a [`CooldownLayer`](crate::CooldownLayer) does.
///
/// Every value is valid; none panics.
///
/// ```
/// use std::time::Duration;
/// use http::StatusCode;
/// use steadfast_admission::cooldown::CooldownConfig;
/// use steadfast_admission::{Mode, Scope};
/// use steadfast_core::HintSource;
///
/// let config = CooldownConfig::default();
/// assert_eq!(config.statuses(), [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE]);
/// assert_eq!(config.max(), Duration::from_secs(60));
/// assert!(config.hints().reads(HintSource::RetryAfter));
/// assert!(config.hints().reads(HintSource::Milliseconds));
/// assert!(!config.hints().reads(HintSource::Pushback));
/// assert!(!config.hints().reads(HintSource::RateLimit));
/// assert_eq!(config.scope(), Scope::Destination);
/// assert_eq!(config.mode(), Mode::Enforced);
/// assert_eq!(config.max_keys().get(), 10_000);
/// ```
#[derive(Clone)]
pub struct CooldownConfig {
    statuses: Vec<StatusCode>,
    max: Duration,
    hints: Hints,
    pub(super) memory: Memory,
    pub(super) acts: Acts,
}

impl Default for CooldownConfig {
    fn default() -> Self {
        Self {
            statuses: DEFAULT_STATUSES.into(),
            max: DEFAULT_MAX,
            hints: without_pushback(Hints::default()),
            memory: Memory::new(),
            acts: Acts::new(),
        }
    }
}

impl CooldownConfig {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the statuses whose hint is about the host and not about one request; none at all
    /// leaves only [`CooldownHandle::cool`](super::CooldownHandle::cool). Default:
    /// [`DEFAULT_STATUSES`].
    #[must_use]
    pub fn with_statuses(mut self, statuses: impl IntoIterator<Item = StatusCode>) -> Self {
        self.statuses = statuses.into_iter().collect();
        self
    }

    /// Sets the longest pause that an answer can cause: a longer hint is cut to it. Zero ignores
    /// every hint; `Duration::MAX` is no limit. Default: [`DEFAULT_MAX`].
    #[must_use]
    pub const fn with_max(mut self, max: Duration) -> Self {
        self.max = max;
        self
    }

    /// Sets which headers of such an answer say when to come back, where no layer below has left
    /// a [`Hint`](steadfast_core::Hint) in its extensions. gRPC's pushback is never read: it is
    /// about one call. Default: the rest of [`Hints::default`], so `Retry-After` (RFC 9110
    /// §10.2.3) and its spellings in milliseconds.
    #[must_use]
    pub fn with_hints(mut self, hints: Hints) -> Self {
        self.hints = without_pushback(hints);
        self
    }

    /// Sets which calls share a pause. Default: [`Scope::Destination`].
    #[must_use]
    pub const fn with_scope(mut self, scope: Scope) -> Self {
        self.memory.scope = scope;
        self
    }

    /// Sets whether calls are refused, only told of, or neither. Default: [`Mode::Enforced`].
    #[must_use]
    pub const fn with_mode(mut self, mode: Mode) -> Self {
        self.acts.mode = mode;
        self
    }

    /// Sets how many destinations are remembered at most. One that is forgotten, because so many
    /// others were called after it, is called again before its pause is over. Default:
    /// [`DEFAULT_MAX_KEYS`](steadfast_core::keyed::DEFAULT_MAX_KEYS).
    #[must_use]
    pub const fn with_max_keys(mut self, max_keys: NonZeroU32) -> Self {
        self.memory.max_keys = max_keys;
        self
    }

    /// Sets who is told of pauses and refusals. Default: nobody.
    #[must_use]
    pub fn with_observer(mut self, observer: impl Observe) -> Self {
        self.acts.observer = Some(Arc::new(observer));
        self
    }

    /// The statuses whose hint is about the host.
    pub fn statuses(&self) -> &[StatusCode] {
        &self.statuses
    }

    /// The longest pause that an answer can cause.
    pub const fn max(&self) -> Duration {
        self.max
    }

    /// Which headers say when to come back.
    pub const fn hints(&self) -> &Hints {
        &self.hints
    }

    /// Which calls share a pause.
    pub const fn scope(&self) -> Scope {
        self.memory.scope
    }

    /// Whether calls are refused, or only told of.
    pub const fn mode(&self) -> Mode {
        self.acts.mode
    }

    /// How many destinations are remembered at most.
    pub const fn max_keys(&self) -> NonZeroU32 {
        self.memory.max_keys
    }

    /// Who is told.
    pub fn observer(&self) -> Option<&dyn Observe> {
        self.acts.observer()
    }
}

/// Its place in the order of sources is the first, where it would hide the host's own word.
const fn without_pushback(hints: Hints) -> Hints {
    hints.without(HintSource::Pushback)
}

impl fmt::Debug for CooldownConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CooldownConfig")
            .field("statuses", &self.statuses)
            .field("max", &self.max)
            .field("hints", &self.hints)
            .field("memory", &self.memory)
            .field("acts", &self.acts)
            .finish_non_exhaustive()
    }
}
