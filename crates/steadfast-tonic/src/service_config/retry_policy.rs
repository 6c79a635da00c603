use std::num::NonZeroU32;
use std::time::Duration;

use serde_json::Value;
use steadfast_core::backoff::Multiplier;
use steadfast_core::grpc::{Code, RetryableCodes};
use steadfast_core::{Backoff, Jitter, Ratio};
use steadfast_retry::{Commit, RetryOverrides};

use super::InvalidServiceConfig;
use super::json::At;

/// More attempts count as so many (gRFC A6): a config may come from the network.
pub const MAX_ATTEMPTS: NonZeroU32 = NonZeroU32::new(5).unwrap();

/// gRPC's jitter: each wait is drawn from 80% to 120% of its bound (gRFC A6, since 2023).
const JITTER: Jitter = Jitter::Proportional(Ratio::from_millionths(200_000));

/// How a method's calls are repeated: a `retryPolicy`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetryPolicy {
    max_attempts: NonZeroU32,
    initial_backoff: Duration,
    max_backoff: Duration,
    multiplier: Multiplier,
    codes: RetryableCodes,
}

impl RetryPolicy {
    pub(super) fn read(at: &At<'_>) -> Result<Self, InvalidServiceConfig> {
        at.object()?;
        let attempts = at.required("maxAttempts")?;
        let max_attempts = NonZeroU32::new(attempts.whole()?)
            .filter(|attempts| attempts.get() >= 2)
            .ok_or_else(|| attempts.broken("it must be 2 or more"))?;
        let multiplier = at.required("backoffMultiplier")?;
        Ok(Self {
            max_attempts: max_attempts.min(MAX_ATTEMPTS),
            initial_backoff: at.required("initialBackoff")?.positive_duration()?,
            max_backoff: at.required("maxBackoff")?.positive_duration()?,
            multiplier: read_multiplier(&multiplier)?,
            codes: read_codes(&at.required("retryableStatusCodes")?)?,
        })
    }

    /// The attempts of a call, the first included: 2 to [`MAX_ATTEMPTS`].
    pub const fn max_attempts(&self) -> NonZeroU32 {
        self.max_attempts
    }

    /// The waits: `initialBackoff`, times `backoffMultiplier` after each, up to `maxBackoff`, drawn
    /// from 80% to 120% of that.
    pub fn backoff(&self) -> Backoff {
        Backoff::default()
            .with_base(self.initial_backoff)
            .with_throttled_base(self.initial_backoff)
            .with_cap(self.max_backoff)
            .with_multiplier(self.multiplier)
            .with_jitter(JITTER)
    }

    /// The codes that are repeated.
    pub const fn retryable_codes(&self) -> RetryableCodes {
        self.codes
    }

    /// All of it for one call, committed with the head as gRFC A6 has it.
    pub(super) fn overrides(&self) -> RetryOverrides {
        RetryOverrides::new()
            .with_max_attempts(self.max_attempts)
            .with_backoff(self.backoff())
            .with_retryable_codes(self.codes)
            .with_commit(Commit::Head)
    }
}

fn read_multiplier(at: &At<'_>) -> Result<Multiplier, InvalidServiceConfig> {
    let number = at.number()?;
    if number <= 0.0 {
        return Err(at.broken("it must be more than zero"));
    }
    let multiplier = Multiplier::try_from(number);
    multiplier.map_err(|_| at.broken("below 1 the waits would shrink, which is not supported"))
}

fn read_codes(at: &At<'_>) -> Result<RetryableCodes, InvalidServiceConfig> {
    let list = at.array()?;
    if list.is_empty() {
        return Err(at.broken("it must name at least one code"));
    }
    let mut codes = RetryableCodes::NONE;
    for at in list {
        codes = codes.with(read_code(&at)?);
    }
    Ok(codes)
}

/// A code by name, or by number as protobuf's JSON lets enums be.
fn read_code(at: &At<'_>) -> Result<Code, InvalidServiceConfig> {
    let code = match at.value() {
        Value::Number(_) => Code::ALL.get(at.whole()? as usize).copied(),
        _ => {
            let name = at.text()?;
            // The specification of the codes writes it with two Ls, and so do we read it.
            let name = if name == "CANCELED" {
                "CANCELLED"
            } else {
                name
            };
            Code::ALL.into_iter().find(|code| code.as_str() == name)
        }
    };
    code.ok_or_else(|| at.broken(format!("{} is no gRPC code", at.value())))
}
