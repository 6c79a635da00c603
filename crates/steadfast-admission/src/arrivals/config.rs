use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use steadfast_core::{AttemptHeader, Observe, Ratio};

use crate::Mode;
use crate::settings::Acts;

/// The share of retries among arrivals above which they are refused: one in five, twice what
/// clients with a budget of 10% send at the most.
pub const DEFAULT_SHARE: Ratio = Ratio::from_millionths(200_000);
/// The time over which arrivals are counted: 10 s, as the window of the clients' budget.
pub const DEFAULT_WINDOW: Duration = Duration::from_secs(10);
/// Arrivals that must be in the window before any is refused: 20, so that a quiet server's one
/// client in trouble is served.
pub const DEFAULT_MINIMUM: NonZeroU32 = NonZeroU32::new(20).expect("20 is not zero");

/// What an [`ArrivalsLayer`](super::ArrivalsLayer) does.
///
/// Every value is valid; none panics.
///
/// ```
/// use std::time::Duration;
/// use steadfast_admission::arrivals::ArrivalsConfig;
/// use steadfast_core::{AttemptHeader, Ratio};
///
/// let config = ArrivalsConfig::default();
/// assert_eq!(config.share(), Ratio::percent(20)?);
/// assert_eq!(config.window(), Duration::from_secs(10));
/// assert_eq!(config.minimum().get(), 20);
/// assert_eq!(config.marks(), AttemptHeader::ALL);
/// # Ok::<(), steadfast_core::InvalidRatio>(())
/// ```
#[derive(Clone)]
pub struct ArrivalsConfig {
    share: Ratio,
    window: Duration,
    minimum: NonZeroU32,
    marks: Vec<AttemptHeader>,
    pub(super) acts: Acts,
}

impl Default for ArrivalsConfig {
    fn default() -> Self {
        Self {
            share: DEFAULT_SHARE,
            window: DEFAULT_WINDOW,
            minimum: DEFAULT_MINIMUM,
            marks: AttemptHeader::ALL.into(),
            acts: Acts::new(),
        }
    }
}

impl ArrivalsConfig {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the share of retries above which they are refused; from 100% on none is. Default:
    /// [`DEFAULT_SHARE`].
    #[must_use]
    pub fn with_share(mut self, share: Ratio) -> Self {
        self.share = share;
        self
    }

    /// Sets the time over which arrivals are counted; shorter than 100 ms counts as 100 ms.
    /// Default: [`DEFAULT_WINDOW`].
    #[must_use]
    pub fn with_window(mut self, window: Duration) -> Self {
        self.window = window;
        self
    }

    /// Sets how many arrivals must be in the window before any is refused. Default:
    /// [`DEFAULT_MINIMUM`].
    #[must_use]
    pub fn with_minimum(mut self, minimum: NonZeroU32) -> Self {
        self.minimum = minimum;
        self
    }

    /// Sets which headers tell a retry. Default: all that are known ([`AttemptHeader::ALL`]).
    #[must_use]
    pub fn with_marks(mut self, marks: impl IntoIterator<Item = AttemptHeader>) -> Self {
        self.marks = marks.into_iter().collect();
        self
    }

    /// Sets whether retries are refused, only told of, or neither. Default: [`Mode::Enforced`].
    #[must_use]
    pub fn with_mode(mut self, mode: Mode) -> Self {
        self.acts.mode = mode;
        self
    }

    /// Sets who is told of refusals. Default: nobody.
    #[must_use]
    pub fn with_observer(mut self, observer: impl Observe) -> Self {
        self.acts.observer = Some(Arc::new(observer));
        self
    }

    /// The share of retries above which they are refused.
    pub const fn share(&self) -> Ratio {
        self.share
    }

    /// The time over which arrivals are counted.
    pub const fn window(&self) -> Duration {
        self.window
    }

    /// Arrivals that must be in the window before any is refused.
    pub const fn minimum(&self) -> NonZeroU32 {
        self.minimum
    }

    /// The headers that tell a retry.
    pub fn marks(&self) -> &[AttemptHeader] {
        &self.marks
    }

    /// Whether retries are refused or only told.
    pub const fn mode(&self) -> Mode {
        self.acts.mode
    }

    /// Who is told.
    pub fn observer(&self) -> Option<&dyn Observe> {
        self.acts.observer()
    }
}

impl fmt::Debug for ArrivalsConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArrivalsConfig")
            .field("share", &self.share)
            .field("window", &self.window)
            .field("minimum", &self.minimum)
            .field("marks", &self.marks)
            .field("acts", &self.acts)
            .finish_non_exhaustive()
    }
}
