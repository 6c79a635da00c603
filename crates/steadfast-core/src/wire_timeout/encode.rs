use std::time::Duration;

use http::HeaderValue;

use super::TimeoutFormat;
use super::format::{GRPC_UNITS, MAX_CONNECT, MAX_GRPC};

/// What the next hop is told about the time left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Announced {
    /// Nothing: there is no limit.
    Nothing,
    /// Less than one unit is left. It would have to be told as zero, which is expired, so the
    /// attempt is not worth sending.
    TooLittle,
    /// This header value: never more than is left, and less than one unit below it.
    Left(HeaderValue),
}

impl TimeoutFormat {
    /// Writes the time left for the next hop, in the finest unit in which it fits.
    ///
    /// Rounds down, so the peer is never told more than is left; the difference is below one
    /// unit, up to [`Self::longest`], which longer times are written as. `Duration::MAX` is no
    /// limit.
    ///
    /// ```
    /// use std::time::Duration;
    /// use http::HeaderValue;
    /// use steadfast_core::{Announced, TimeoutFormat};
    ///
    /// let day = Duration::from_secs(24 * 60 * 60);
    /// let value = HeaderValue::from_static("86400000");
    /// assert_eq!(TimeoutFormat::Grpc.encode(day), Announced::Left("86400000m".parse()?));
    /// assert_eq!(TimeoutFormat::Millis.encode(day), Announced::Left(value));
    /// let blink = Duration::from_micros(999);
    /// assert_eq!(TimeoutFormat::Millis.encode(blink), Announced::TooLittle);
    /// assert_eq!(TimeoutFormat::Grpc.encode(blink), Announced::Left("999000n".parse()?));
    /// assert_eq!(TimeoutFormat::Grpc.encode(Duration::MAX), Announced::Nothing);
    /// # Ok::<(), http::header::InvalidHeaderValue>(())
    /// ```
    pub fn encode(self, left: Duration) -> Announced {
        if left == Duration::MAX {
            return Announced::Nothing;
        }
        let millis = u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
        let (number, unit) = match self {
            Self::Grpc => grpc(left),
            Self::Connect => (millis.min(MAX_CONNECT), None),
            Self::Millis => (millis, None),
            Self::Seconds => (left.as_secs(), None),
        };
        if number == 0 {
            return Announced::TooLittle;
        }
        Announced::Left(written(number, unit))
    }
}

/// The finest unit in which 8 digits are enough.
fn grpc(left: Duration) -> (u64, Option<u8>) {
    let nanos = left.as_nanos();
    for (letter, one) in GRPC_UNITS {
        let number = nanos / u128::from(one);
        if number <= u128::from(MAX_GRPC) {
            // At most 8 digits, so nothing is cut off.
            return (number as u64, Some(letter));
        }
    }
    (MAX_GRPC, Some(b'H'))
}

/// The digits of `u64::MAX`, and a unit.
const LONGEST: usize = 21;

fn written(mut number: u64, unit: Option<u8>) -> HeaderValue {
    let mut text = [0; LONGEST];
    let mut start = LONGEST;
    if let Some(letter) = unit {
        start -= 1;
        text[start] = letter;
    }
    loop {
        start -= 1;
        text[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    HeaderValue::from_bytes(&text[start..]).expect("digits and a letter are visible ASCII")
}
