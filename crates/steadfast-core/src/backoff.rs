//! How long to wait before the next attempt, when the peer does not say.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use crate::Ratio;

/// First bound of the exponential growth: 50 ms, the base for transient faults in the AWS SDKs'
/// revised standard mode; short enough to be invisible to a person.
pub const DEFAULT_BASE: Duration = Duration::from_millis(50);
/// Base after the peer said that it is overloaded (429): 1 s, as in the same SDKs.
pub const DEFAULT_THROTTLED_BASE: Duration = Duration::from_secs(1);
/// Longest bound: 20 s, above which a person has given up and a queue serves better.
pub const DEFAULT_CAP: Duration = Duration::from_secs(20);
/// Growth per attempt: 2.
pub const DEFAULT_MULTIPLIER: Multiplier = Multiplier(2.0);

/// How the wait is spread out between many clients.
///
/// With `h = min(cap, base × multiplier^n)` for retry number `n`, counted from 0. The cap comes
/// before the draw, so that the draws do not pile up at the cap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Jitter {
    /// U(0, h): the default, since it spreads arrivals evenly over the whole window.
    #[default]
    Full,
    /// h/2 + U(0, h/2): never less than half.
    Equal,
    /// U(base, min(cap, 3 × max(base, last wait))): grows from what was drawn, not by `n`.
    Decorrelated,
    /// h × U(1 − r, 1 + r): as gRPC does with r = 0.2. At most `cap × (1 + r)`; an r above 1
    /// counts as 1.
    Proportional(Ratio),
    /// h + U(0, max): at most `cap + max`.
    Additive(Duration),
    /// Exactly h: clients that failed together return together. For tests.
    None,
}

/// Exponential backoff with jitter.
///
/// All values are valid; every result is finite: it saturates, for every attempt number and for
/// `Duration::MAX`. A cap below the base wins over it.
///
/// ```
/// use std::time::Duration;
/// use steadfast_core::backoff::{Backoff, Jitter, Multiplier};
///
/// let backoff = Backoff::default();
/// assert_eq!(backoff.base(), Duration::from_millis(50));
/// assert_eq!(backoff.throttled_base(), Duration::from_secs(1));
/// assert_eq!(backoff.cap(), Duration::from_secs(20));
/// assert_eq!(backoff.multiplier(), Multiplier::try_from(2.0)?);
/// assert_eq!(backoff.jitter(), Jitter::Full);
///
/// // The third retry waits somewhere in [0, 200 ms): half a window for a draw of one half.
/// assert_eq!(backoff.wait(2, Duration::ZERO, false, 0.5), Duration::from_millis(100));
/// # Ok::<(), steadfast_core::backoff::InvalidMultiplier>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backoff {
    base: Duration,
    throttled_base: Duration,
    cap: Duration,
    multiplier: Multiplier,
    jitter: Jitter,
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            base: DEFAULT_BASE,
            throttled_base: DEFAULT_THROTTLED_BASE,
            cap: DEFAULT_CAP,
            multiplier: DEFAULT_MULTIPLIER,
            jitter: Jitter::Full,
        }
    }
}

impl Backoff {
    /// Sets the first bound. Default: [`DEFAULT_BASE`].
    #[must_use]
    pub const fn with_base(mut self, base: Duration) -> Self {
        self.base = base;
        self
    }

    /// Sets the first bound after throttling. Default: [`DEFAULT_THROTTLED_BASE`].
    #[must_use]
    pub const fn with_throttled_base(mut self, base: Duration) -> Self {
        self.throttled_base = base;
        self
    }

    /// Sets the longest bound. Default: [`DEFAULT_CAP`].
    #[must_use]
    pub const fn with_cap(mut self, cap: Duration) -> Self {
        self.cap = cap;
        self
    }

    /// Sets the growth per attempt. Default: [`DEFAULT_MULTIPLIER`].
    #[must_use]
    pub const fn with_multiplier(mut self, multiplier: Multiplier) -> Self {
        self.multiplier = multiplier;
        self
    }

    /// Sets the jitter. Default: [`Jitter::Full`].
    #[must_use]
    pub const fn with_jitter(mut self, jitter: Jitter) -> Self {
        self.jitter = jitter;
        self
    }

    /// The first bound.
    pub const fn base(&self) -> Duration {
        self.base
    }

    /// The first bound after throttling.
    pub const fn throttled_base(&self) -> Duration {
        self.throttled_base
    }

    /// The longest bound.
    pub const fn cap(&self) -> Duration {
        self.cap
    }

    /// The growth per attempt.
    pub const fn multiplier(&self) -> Multiplier {
        self.multiplier
    }

    /// The jitter.
    pub const fn jitter(&self) -> Jitter {
        self.jitter
    }

    /// The wait before retry number `n` (from 0), where `last` is the wait before the one before
    /// and `u` a draw from [0, 1).
    ///
    /// One draw decides: `low + (high − low) × u`.
    pub fn wait(&self, n: u32, last: Duration, throttled: bool, u: f64) -> Duration {
        let base = if throttled {
            self.throttled_base
        } else {
            self.base
        }
        .min(self.cap);
        let bound = self.bound(base, n);
        match self.jitter {
            Jitter::Full => between(Duration::ZERO, bound, u),
            Jitter::Equal => between(bound / 2, bound, u),
            Jitter::Decorrelated => {
                let high = base.max(last).saturating_mul(3).min(self.cap);
                between(base, high.max(base), u)
            }
            Jitter::Proportional(ratio) => {
                let spread = scaled(bound, ratio.min(Ratio::ONE).as_f64());
                between(
                    bound.saturating_sub(spread),
                    bound.saturating_add(spread),
                    u,
                )
            }
            Jitter::Additive(max) => between(bound, bound.saturating_add(max), u),
            Jitter::None => bound,
        }
    }

    /// `min(cap, base × multiplier^n)`.
    fn bound(&self, base: Duration, n: u32) -> Duration {
        if base.is_zero() {
            // Zero times an infinite growth would be NaN.
            return Duration::ZERO;
        }
        scaled(base, self.multiplier.0.powf(f64::from(n))).min(self.cap)
    }
}

/// `duration × factor`, saturating; `factor` is at least zero and may be infinite.
fn scaled(duration: Duration, factor: f64) -> Duration {
    Duration::try_from_secs_f64(duration.as_secs_f64() * factor).unwrap_or(Duration::MAX)
}

/// `low + (high − low) × u`, never outside of the two, whatever a foreign generator draws.
fn between(low: Duration, high: Duration, u: f64) -> Duration {
    let u = if u.is_nan() { 0.0 } else { u.clamp(0.0, 1.0) };
    low.saturating_add(scaled(high.saturating_sub(low), u))
        .min(high)
}

/// How much the bound grows per attempt: finite and at least 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Multiplier(f64);

impl Multiplier {
    /// The factor.
    pub const fn as_f64(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Multiplier {
    type Error = InvalidMultiplier;

    fn try_from(value: f64) -> Result<Self, InvalidMultiplier> {
        match value {
            1.0..=f64::MAX => Ok(Self(value)),
            _ => Err(InvalidMultiplier(value)),
        }
    }
}

/// A number that cannot be a [`Multiplier`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InvalidMultiplier(f64);

impl fmt::Display for InvalidMultiplier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} is not a backoff multiplier: it must be finite and at least 1",
            self.0
        )
    }
}

impl Error for InvalidMultiplier {}

#[cfg(test)]
mod tests;
