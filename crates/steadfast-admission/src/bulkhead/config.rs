use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use steadfast_core::{Observe, Ratio};

use super::shares::Shares;
use crate::settings::{Acts, Memory};
use crate::{Mode, Scope};

/// Calls in flight to one destination: 100, the fewest streams that RFC 9113 §6.5.2 recommends a
/// peer to allow on one connection. It carries 1,000 calls a second of 100 ms each.
pub const DEFAULT_LIMIT: NonZeroU32 = NonZeroU32::new(100).expect("100 is not zero");
/// The longest wait for a place: none. Who waits holds memory and its caller's time while a slow
/// dependency stays slow, so waiting is asked for.
pub const DEFAULT_MAX_WAIT: Duration = Duration::ZERO;
/// Calls that wait for a place at one destination, where waiting was asked for: 100, one round of
/// [`DEFAULT_LIMIT`], so that the last in the queue waits about as long as one call takes.
pub const DEFAULT_MAX_QUEUE: u32 = 100;
/// The share of places and queue for critical calls alone: none, since nothing is critical before
/// somebody says so.
pub const DEFAULT_RESERVE: Ratio = Ratio::ZERO;

/// What a [`BulkheadLayer`](crate::BulkheadLayer) does.
///
/// Every value is valid; none panics.
///
/// ```
/// use std::time::Duration;
/// use steadfast_admission::bulkhead::BulkheadConfig;
/// use steadfast_admission::{Mode, Scope};
/// use steadfast_core::Ratio;
///
/// let config = BulkheadConfig::default();
/// assert_eq!(config.limit().get(), 100);
/// assert_eq!(config.max_wait(), Duration::ZERO);
/// assert_eq!(config.max_queue(), 100);
/// assert_eq!(config.reserve(), Ratio::ZERO);
/// assert_eq!(config.scope(), Scope::Destination);
/// assert_eq!(config.mode(), Mode::Enforced);
/// assert_eq!(config.max_keys().get(), 10_000);
/// assert_eq!(config.idle(), Duration::from_secs(5 * 60));
/// ```
#[derive(Clone)]
pub struct BulkheadConfig {
    limit: NonZeroU32,
    max_wait: Duration,
    max_queue: u32,
    reserve: Ratio,
    pub(super) memory: Memory,
    pub(super) acts: Acts,
}

impl Default for BulkheadConfig {
    fn default() -> Self {
        Self::new()
    }
}

impl BulkheadConfig {
    /// The defaults.
    pub const fn new() -> Self {
        Self {
            limit: DEFAULT_LIMIT,
            max_wait: DEFAULT_MAX_WAIT,
            max_queue: DEFAULT_MAX_QUEUE,
            reserve: DEFAULT_RESERVE,
            memory: Memory::new(),
            acts: Acts::new(),
        }
    }

    /// Sets how many calls may be in flight to one destination, the bodies of their answers
    /// included. Default: [`DEFAULT_LIMIT`].
    #[must_use]
    pub const fn with_limit(mut self, limit: NonZeroU32) -> Self {
        self.limit = limit;
        self
    }

    /// Sets how long a call waits for a place at most; the call's deadline, if that is earlier,
    /// rules. Zero refuses at once and takes no timer; `Duration::MAX` waits up to the deadline.
    /// Default: [`DEFAULT_MAX_WAIT`].
    #[must_use]
    pub const fn with_max_wait(mut self, max_wait: Duration) -> Self {
        self.max_wait = max_wait;
        self
    }

    /// Sets how many calls wait for a place at one destination; zero is no queue. It takes effect
    /// with a [`max_wait`](Self::with_max_wait) above zero. Default: [`DEFAULT_MAX_QUEUE`].
    #[must_use]
    pub const fn with_max_queue(mut self, max_queue: u32) -> Self {
        self.max_queue = max_queue;
        self
    }

    /// Sets the share of the limit, and of the queue, that is for
    /// [critical](steadfast_core::Criticality) calls alone, rounded down. Calls that may be shed
    /// have half of the rest, rounded up. From 100% on, only critical calls pass.
    /// Default: [`DEFAULT_RESERVE`].
    #[must_use]
    pub const fn with_reserve(mut self, reserve: Ratio) -> Self {
        self.reserve = reserve;
        self
    }

    /// Sets which calls share the places. Default: [`Scope::Destination`].
    #[must_use]
    pub const fn with_scope(mut self, scope: Scope) -> Self {
        self.memory.scope = scope;
        self
    }

    /// Sets whether calls are refused and delayed, only told of, or neither. Default:
    /// [`Mode::Enforced`].
    #[must_use]
    pub const fn with_mode(mut self, mode: Mode) -> Self {
        self.acts.mode = mode;
        self
    }

    /// Sets how many destinations are remembered at most. One that is forgotten while calls are in
    /// flight to it starts empty, and those calls are no longer counted with the new ones.
    /// Default: [`DEFAULT_MAX_KEYS`](steadfast_core::keyed::DEFAULT_MAX_KEYS).
    #[must_use]
    pub const fn with_max_keys(mut self, max_keys: NonZeroU32) -> Self {
        self.memory.max_keys = max_keys;
        self
    }

    /// Sets the time without a new call after which a destination is forgotten, with the same
    /// consequence: longer than any answer takes to its body's end. `Duration::MAX` is for ever.
    /// Default: [`DEFAULT_IDLE`](steadfast_core::keyed::DEFAULT_IDLE).
    #[must_use]
    pub const fn with_idle(mut self, idle: Duration) -> Self {
        self.memory.idle = idle;
        self
    }

    /// Sets who is told of refusals. Default: nobody.
    #[must_use]
    pub fn with_observer(mut self, observer: impl Observe) -> Self {
        self.acts.observer = Some(Arc::new(observer));
        self
    }

    /// How many calls may be in flight to one destination.
    pub const fn limit(&self) -> NonZeroU32 {
        self.limit
    }

    /// How long a call waits for a place at most.
    pub const fn max_wait(&self) -> Duration {
        self.max_wait
    }

    /// How many calls wait for a place at one destination.
    pub const fn max_queue(&self) -> u32 {
        self.max_queue
    }

    /// The share that is for critical calls alone.
    pub const fn reserve(&self) -> Ratio {
        self.reserve
    }

    /// Which calls share the places.
    pub const fn scope(&self) -> Scope {
        self.memory.scope
    }

    /// Whether calls are refused and delayed, or only told of.
    pub const fn mode(&self) -> Mode {
        self.acts.mode
    }

    /// How many destinations are remembered at most.
    pub const fn max_keys(&self) -> NonZeroU32 {
        self.memory.max_keys
    }

    /// The time without a new call after which a destination is forgotten.
    pub const fn idle(&self) -> Duration {
        self.memory.idle
    }

    /// Who is told.
    pub fn observer(&self) -> Option<&dyn Observe> {
        self.acts.observer()
    }

    /// Whether any call ever waits.
    pub(super) fn has_queue(&self) -> bool {
        !self.max_wait.is_zero() && self.max_queue > 0 && self.acts.is_enforced()
    }

    /// How places and queue are shared. In shadow mode nobody waits: who would have waited is in
    /// flight, so there are as many places as both together.
    pub(super) fn shares(&self) -> (Shares, Shares) {
        let places = Shares::of(self.limit.get(), self.reserve);
        let queue = match self.max_wait.is_zero() {
            true => Shares::NONE,
            false => Shares::of(self.max_queue, self.reserve),
        };
        match self.acts.mode {
            Mode::Enforced => (places, queue),
            Mode::Shadow => (places.plus(queue), Shares::NONE),
            Mode::Off => (Shares::ALL, Shares::NONE),
        }
    }
}

impl fmt::Debug for BulkheadConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BulkheadConfig")
            .field("limit", &self.limit)
            .field("max_wait", &self.max_wait)
            .field("max_queue", &self.max_queue)
            .field("reserve", &self.reserve)
            .field("memory", &self.memory)
            .field("acts", &self.acts)
            .finish_non_exhaustive()
    }
}
