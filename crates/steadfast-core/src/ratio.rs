use std::error::Error;
use std::fmt;

/// A share, counted in millionths so that 0.15 or 0.6 is exact and NaN cannot be written.
///
/// Bounds: 0 to 4294.967295. Used for budgets ("retries are at most 10% of calls") and for
/// proportional jitter.
///
/// ```
/// use steadfast_core::Ratio;
///
/// assert_eq!(Ratio::percent(15)?, Ratio::try_from(0.15)?);
/// assert_eq!(Ratio::percent(15)?.ceil_of(10), 2);
/// assert!(Ratio::try_from(f64::NAN).is_err());
/// # Ok::<(), steadfast_core::InvalidRatio>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ratio(u32);

/// Millionths in one whole.
const WHOLE: u64 = 1_000_000;

impl Ratio {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// One for one.
    pub const ONE: Self = Self(1_000_000);

    /// A ratio from a count of millionths; every value is valid.
    pub const fn from_millionths(millionths: u32) -> Self {
        Self(millionths)
    }

    /// A ratio from whole percent.
    ///
    /// # Errors
    ///
    /// When `percent` is above 429,496.
    pub const fn percent(percent: u32) -> Result<Self, InvalidRatio> {
        match percent.checked_mul(10_000) {
            Some(millionths) => Ok(Self(millionths)),
            None => Err(InvalidRatio(percent as f64 / 100.0)),
        }
    }

    /// The count of millionths.
    pub const fn as_millionths(self) -> u32 {
        self.0
    }

    /// The value as a floating-point number.
    pub fn as_f64(self) -> f64 {
        f64::from(self.0) / 1e6
    }

    /// The smallest whole number that is not below `ratio × count`; saturates at `u64::MAX`.
    pub const fn ceil_of(self, count: u64) -> u64 {
        // Nearly always, and much faster.
        if let Some(exact) = count.checked_mul(self.0 as u64) {
            return exact.div_ceil(WHOLE);
        }
        let exact = self.0 as u128 * count as u128;
        let ceiled = exact.div_ceil(WHOLE as u128);
        if ceiled > u64::MAX as u128 {
            u64::MAX
        } else {
            ceiled as u64
        }
    }
}

impl TryFrom<f64> for Ratio {
    type Error = InvalidRatio;

    fn try_from(value: f64) -> Result<Self, InvalidRatio> {
        let millionths = (value * 1e6).round();
        if (0.0..=f64::from(u32::MAX)).contains(&millionths) {
            Ok(Self(millionths as u32))
        } else {
            Err(InvalidRatio(value))
        }
    }
}

impl fmt::Debug for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ratio({self})")
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.as_f64())
    }
}

/// A number that cannot be a [`Ratio`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InvalidRatio(f64);

impl fmt::Display for InvalidRatio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} is not a ratio: it must lie between 0 and 4294.967295",
            self.0
        )
    }
}

impl Error for InvalidRatio {}
