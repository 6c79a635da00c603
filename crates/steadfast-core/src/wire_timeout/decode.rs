use std::error::Error;
use std::fmt;
use std::time::Duration;

use super::TimeoutFormat;
use super::format::GRPC_UNITS;

/// A header value that tells no time: it breaks the grammar of its format.
///
/// What that means is for the reader to say; it is never a reason for more time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidTimeout {
    format: TimeoutFormat,
    // No more than the grammar allows and one byte, however long the peer's was.
    shown: [u8; SHOWN],
    len: usize,
}

const SHOWN: usize = 22;

impl InvalidTimeout {
    fn new(format: TimeoutFormat, value: &[u8]) -> Self {
        let mut shown = [0; SHOWN];
        let len = value.len().min(SHOWN);
        shown[..len].copy_from_slice(&value[..len]);
        Self { format, shown, len }
    }

    /// The format whose grammar is broken.
    pub const fn format(&self) -> TimeoutFormat {
        self.format
    }
}

impl fmt::Display for InvalidTimeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rule = match self.format {
            TimeoutFormat::Grpc => "1 to 8 digits and one of H, M, S, m, u, n",
            TimeoutFormat::Connect => "1 to 10 digits",
            TimeoutFormat::Millis => "whole milliseconds in digits, below 2^64",
            TimeoutFormat::Seconds => "whole seconds in digits, below 2^64",
        };
        let value = self.shown[..self.len].escape_ascii();
        write!(f, "`{value}` is no timeout: it must be {rule}")
    }
}

impl Error for InvalidTimeout {}

impl TimeoutFormat {
    /// Reads the time that a peer leaves, strictly: digits and a unit where the format has one,
    /// no sign, no space, no fraction, and no more digits than the format allows.
    ///
    /// Zero, which gRPC's and Connect's grammars do not have ("positive integer"), is read as
    /// zero: expired. Taking it for malformed could only lengthen what the caller meant.
    ///
    /// # Errors
    ///
    /// When the value breaks the format's grammar, or does not fit a `u64`.
    ///
    /// ```
    /// use std::time::Duration;
    /// use steadfast_core::TimeoutFormat;
    ///
    /// assert_eq!(TimeoutFormat::Grpc.decode(b"100m")?, Duration::from_millis(100));
    /// assert_eq!(TimeoutFormat::Connect.decode(b"0")?, Duration::ZERO);
    /// let error = TimeoutFormat::Grpc.decode(b"100000000n").unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "`100000000n` is no timeout: it must be 1 to 8 digits and one of H, M, S, m, u, n",
    /// );
    /// # Ok::<(), steadfast_core::InvalidTimeout>(())
    /// ```
    pub fn decode(self, value: &[u8]) -> Result<Duration, InvalidTimeout> {
        let time = match self {
            Self::Grpc => grpc(value),
            Self::Connect => digits(value, 10).map(Duration::from_millis),
            Self::Millis => digits(value, MOST_DIGITS).map(Duration::from_millis),
            Self::Seconds => digits(value, MOST_DIGITS).map(Duration::from_secs),
        };
        time.ok_or_else(|| InvalidTimeout::new(self, value))
    }
}

/// As many as `u64::MAX` has.
const MOST_DIGITS: usize = 20;

fn grpc(value: &[u8]) -> Option<Duration> {
    let (letter, number) = value.split_last()?;
    let number = digits(number, 8)?;
    let (_, one) = GRPC_UNITS.iter().find(|(unit, _)| unit == letter)?;
    let nanos = u128::from(number) * u128::from(*one);
    const SECOND: u128 = 1_000_000_000;
    // 99,999,999 hours are 4e11 seconds, so nothing is cut off.
    Some(Duration::new(
        (nanos / SECOND) as u64,
        (nanos % SECOND) as u32,
    ))
}

fn digits(text: &[u8], most: usize) -> Option<u64> {
    if text.is_empty() || text.len() > most {
        return None;
    }
    text.iter().try_fold(0_u64, |number, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}
