//! The `X-RateLimit-Reset` family, which nobody specified.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderName};

use super::date::until_epoch;
use super::number::{NANOS_PER_MILLI, NANOS_PER_SECOND, number, text};
use super::{Hint, longest};

/// What a reset header counts. The same name stands for each of them at different vendors, and a
/// number does not say which it is, so it is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ResetUnit {
    /// Seconds from now.
    DeltaSeconds,
    /// Milliseconds from now.
    DeltaMilliseconds,
    /// Seconds since 1970, as GitHub counts.
    EpochSeconds,
    /// Milliseconds since 1970.
    EpochMilliseconds,
}

impl ResetUnit {
    const fn nanos(self) -> u64 {
        match self {
            Self::DeltaSeconds | Self::EpochSeconds => NANOS_PER_SECOND,
            Self::DeltaMilliseconds | Self::EpochMilliseconds => NANOS_PER_MILLI,
        }
    }

    const fn is_epoch(self) -> bool {
        matches!(self, Self::EpochSeconds | Self::EpochMilliseconds)
    }
}

/// A declared header.
#[derive(Clone, Debug)]
pub(super) struct Reset {
    name: HeaderName,
    /// The header beside it that says how much is left.
    left: Option<HeaderName>,
    unit: ResetUnit,
}

impl Reset {
    pub(super) fn new(name: HeaderName, unit: ResetUnit) -> Self {
        let left = name.as_str().replace("reset", "remaining");
        let left = HeaderName::try_from(left).ok().filter(|left| *left != name);
        Self { name, left, unit }
    }

    pub(super) fn read(&self, headers: &HeaderMap, now: impl Fn() -> SystemTime) -> Hint {
        if !headers.contains_key(&self.name) || self.something_left(headers) {
            return Hint::None;
        }
        longest(headers, &self.name, |text| {
            let told = number(text, self.unit.nanos())?;
            Some(match self.unit.is_epoch() {
                true => until_epoch(told, now()),
                false => told,
            })
        })
    }

    /// Servers send these headers with every answer: only a used-up limit asks for a wait.
    fn something_left(&self, headers: &HeaderMap) -> bool {
        let value = self.left.as_ref().and_then(|name| headers.get(name));
        let left = value
            .and_then(text)
            .and_then(|text| number(text, NANOS_PER_SECOND));
        left.is_some_and(|left| left > Duration::ZERO)
    }
}
