use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use steadfast_core::backoff::Jitter;
use steadfast_core::{Backoff, Classify, DefaultClassify, Hints, Observe, Random, Ratio};

use super::Window;
use super::rules::{Rules, SlowCalls};
use crate::settings::{Acts, Memory};
use crate::{Mode, Scope};

/// The share of failed calls that opens a circuit: one half, as in resilience4j and Hystrix; a
/// retry cures less than that.
pub const DEFAULT_FAILURE_RATE: Ratio = Ratio::from_millionths(500_000);
/// How long a circuit stays open the first time: 5 s, as in Polly; a restart takes about as long.
pub const DEFAULT_OPEN_BASE: Duration = Duration::from_secs(5);
/// How long it stays open at most: 60 s, so that a cured peer is found within a minute.
pub const DEFAULT_OPEN_CAP: Duration = Duration::from_secs(60);
/// How far the open time is spread, up and down: 20%, as in gRPC, so that many clients do not probe
/// together.
pub const DEFAULT_OPEN_SPREAD: Ratio = Ratio::from_millionths(200_000);
/// Probes of a half-open circuit: 1, the least that a peer in trouble can be asked.
pub const DEFAULT_PROBES: NonZeroU32 = NonZeroU32::MIN;
/// The time after which a probe that has not ended loses its place: 30 s, as long as a whole call
/// has by default.
pub const DEFAULT_PROBE_LEASE: Duration = Duration::from_secs(30);

/// What a [`BreakerLayer`](super::BreakerLayer) does.
///
/// Every value is valid; none panics.
///
/// ```
/// use std::time::Duration;
/// use steadfast_admission::Scope;
/// use steadfast_admission::breaker::{BreakerConfig, Window};
/// use steadfast_core::Ratio;
///
/// let config = BreakerConfig::default();
/// assert_eq!(config.window(), Window::time(Duration::from_secs(30)));
/// assert_eq!(config.failure_rate(), Some(Ratio::percent(50)?));
/// assert_eq!(config.consecutive_failures(), None);
/// assert_eq!(config.slow_calls(), None);
/// assert!(config.hints().is_none());
/// assert_eq!(config.open().base(), Duration::from_secs(5));
/// assert_eq!(config.open().cap(), Duration::from_secs(60));
/// assert_eq!(config.probes().get(), 1);
/// assert_eq!(config.probe_lease(), Duration::from_secs(30));
/// assert_eq!(config.scope(), Scope::Destination);
/// # Ok::<(), steadfast_core::InvalidRatio>(())
/// ```
#[derive(Clone)]
pub struct BreakerConfig {
    pub(super) rules: Rules,
    pub(super) hints: Option<Hints>,
    pub(super) acts: Acts,
    pub(super) memory: Memory,
    pub(super) classify: Arc<dyn Classify>,
    pub(super) random: Random,
}

impl Default for BreakerConfig {
    fn default() -> Self {
        let open = Backoff::default()
            .with_base(DEFAULT_OPEN_BASE)
            .with_cap(DEFAULT_OPEN_CAP)
            .with_jitter(Jitter::Proportional(DEFAULT_OPEN_SPREAD));
        Self {
            rules: Rules {
                window: Window::default(),
                failure_rate: Some(DEFAULT_FAILURE_RATE),
                consecutive: None,
                slow: None,
                open,
                probes: DEFAULT_PROBES,
                probe_lease: DEFAULT_PROBE_LEASE,
            },
            hints: None,
            acts: Acts::new(),
            memory: Memory::new(),
            classify: Arc::new(DefaultClassify),
            random: Random::new(),
        }
    }
}

impl BreakerConfig {
    /// The defaults, with randomness of their own.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the calls to judge by. Default: [`Window::default`].
    #[must_use]
    pub fn with_window(mut self, window: Window) -> Self {
        self.rules.window = window;
        self
    }

    /// Sets the share of failed calls that opens a circuit; above 100% none does. Default:
    /// [`DEFAULT_FAILURE_RATE`].
    #[must_use]
    pub fn with_failure_rate(mut self, rate: Ratio) -> Self {
        self.rules.failure_rate = Some(rate);
        self
    }

    /// Opens no circuit for a share of failed calls: for failures in a row or slow calls alone.
    #[must_use]
    pub fn without_failure_rate(mut self) -> Self {
        self.rules.failure_rate = None;
        self
    }

    /// Opens a circuit after so many failures in a row too, whatever the window holds. Default:
    /// not.
    #[must_use]
    pub fn with_consecutive_failures(mut self, failures: NonZeroU32) -> Self {
        self.rules.consecutive = Some(failures);
        self
    }

    /// Opens a circuit where this share of calls takes `longer_than` or more, from the call to the
    /// answer's end. Default: not. Costs two readings of the clock.
    #[must_use]
    pub fn with_slow_calls(mut self, longer_than: Duration, rate: Ratio) -> Self {
        self.rules.slow = Some(SlowCalls { longer_than, rate });
        self
    }

    /// Sets how long a circuit stays open: the backoff's first wait the first time, the second if
    /// a probe failed then, and so on; it begins anew once the circuit has closed. Default:
    /// [`DEFAULT_OPEN_BASE`], doubled up to [`DEFAULT_OPEN_CAP`], spread by
    /// [`DEFAULT_OPEN_SPREAD`].
    #[must_use]
    pub fn with_open(mut self, open: Backoff) -> Self {
        self.rules.open = open;
        self
    }

    /// Keeps a circuit open at least as long as the failed answer that opened it asked for, up to
    /// the cap of [`Self::with_open`]; gRPC's pushback is such a word, from the headers or the
    /// trailers that say the status. Default: not, since a cooldown does that before it opens.
    #[must_use]
    pub fn with_hints(mut self, hints: Hints) -> Self {
        self.hints = Some(hints);
        self
    }

    /// Sets how many probes a half-open circuit lets out at once, and how many of them must
    /// succeed before it closes. Default: [`DEFAULT_PROBES`].
    #[must_use]
    pub fn with_probes(mut self, probes: NonZeroU32) -> Self {
        self.rules.probes = probes;
        self
    }

    /// Sets the time after which a probe that has not ended loses its place. Default:
    /// [`DEFAULT_PROBE_LEASE`].
    #[must_use]
    pub fn with_probe_lease(mut self, lease: Duration) -> Self {
        self.rules.probe_lease = lease;
        self
    }

    /// Sets whether calls are refused, only told of, or neither. Default: [`Mode::Enforced`].
    #[must_use]
    pub fn with_mode(mut self, mode: Mode) -> Self {
        self.acts.mode = mode;
        self
    }

    /// Sets which calls share a circuit. Default: [`Scope::Destination`].
    #[must_use]
    pub fn with_scope(mut self, scope: Scope) -> Self {
        self.memory.scope = scope;
        self
    }

    /// Sets how many destinations are remembered at most. Default:
    /// [`DEFAULT_MAX_KEYS`](steadfast_core::keyed::DEFAULT_MAX_KEYS).
    #[must_use]
    pub fn with_max_keys(mut self, max_keys: NonZeroU32) -> Self {
        self.memory.max_keys = max_keys;
        self
    }

    /// Sets the time without a call after which a destination is forgotten; shorter than window
    /// and open time it forgets what it must remember. Default: [`DEFAULT_IDLE`](steadfast_core::keyed::DEFAULT_IDLE).
    #[must_use]
    pub fn with_idle(mut self, idle: Duration) -> Self {
        self.memory.idle = idle;
        self
    }

    /// Sets what errors mean; an adapter knows those of its transport. Default:
    /// [`DefaultClassify`].
    #[must_use]
    pub fn with_classify(mut self, classify: impl Classify) -> Self {
        self.classify = Arc::new(classify);
        self
    }

    /// Sets who is told of changes and refusals. The changes of one circuit are told in their order
    /// and one after the other, perhaps by the thread of another call, and under no lock. Default:
    /// nobody.
    #[must_use]
    pub fn with_observer(mut self, observer: impl Observe) -> Self {
        self.acts.observer = Some(Arc::new(observer));
        self
    }

    /// Sets the randomness of open times. Default: seeded by the operating system.
    #[must_use]
    pub fn with_random(mut self, random: Random) -> Self {
        self.random = random;
        self
    }
}

impl fmt::Debug for BreakerConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BreakerConfig")
            .field("rules", &self.rules)
            .field("hints", &self.hints)
            .field("acts", &self.acts)
            .field("memory", &self.memory)
            .finish_non_exhaustive()
    }
}
