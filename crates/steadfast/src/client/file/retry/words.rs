//! The words of `[retry]`.

use std::num::NonZeroU32;
use std::str::FromStr;

use serde::Deserialize;
use steadfast_core::backoff::Jitter;
use steadfast_core::grpc::Code;
use steadfast_core::{HintSource, Hints};
use steadfast_retry::Commit;

use crate::human::{Share, Time};

/// A number, or `"unlimited"`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "attempts must be a number from 1 on, or \"unlimited\""
)]
pub(super) enum Attempts {
    So(NonZeroU32),
    Word(Unlimited),
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) enum Unlimited {
    #[serde(rename = "unlimited")]
    Unlimited,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Spread {
    Full,
    Equal,
    Decorrelated,
    None,
    Proportional(Share),
    Additive(Time),
}

/// How a peer's hint and the backoff go together.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Together {
    Add,
    Max,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Upstream {
    PassThrough,
    Split,
    Ignore,
}

/// `next_hop`
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NextHop {
    pub(super) attempts: NonZeroU32,
    pub(super) share: Share,
}

impl Spread {
    pub(super) const fn jitter(self) -> Jitter {
        match self {
            Self::Full => Jitter::Full,
            Self::Equal => Jitter::Equal,
            Self::Decorrelated => Jitter::Decorrelated,
            Self::None => Jitter::None,
            Self::Proportional(Share(ratio)) => Jitter::Proportional(ratio),
            Self::Additive(Time(max)) => Jitter::Additive(max),
        }
    }
}

/// A header that says when to come back.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Source {
    Pushback,
    Milliseconds,
    RetryAfter,
    RateLimit,
}

impl Source {
    pub(super) const fn read(hints: Hints, source: Self) -> Hints {
        hints.with(match source {
            Self::Pushback => HintSource::Pushback,
            Self::Milliseconds => HintSource::Milliseconds,
            Self::RetryAfter => HintSource::RetryAfter,
            Self::RateLimit => HintSource::RateLimit,
        })
    }
}

/// When an answer counts as the caller's.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Answer {
    FirstFrame,
    Head,
    /// Bytes that are read at most.
    WholeBody(usize),
}

impl Answer {
    pub(super) const fn commit(self) -> Commit {
        match self {
            Self::FirstFrame => Commit::FirstFrame,
            Self::Head => Commit::Head,
            Self::WholeBody(limit) => Commit::WholeBody { limit },
        }
    }
}

/// A code by its name, `"UNAVAILABLE"`.
#[derive(Clone, Copy, Debug)]
pub(super) struct GrpcCode(pub(super) Code);

impl FromStr for GrpcCode {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = Code::ALL.into_iter().find(|code| code.as_str() == name);
        known.map(Self).ok_or_else(|| {
            let name = name.escape_debug();
            format!("'{name}' is not a gRPC code such as \"UNAVAILABLE\"")
        })
    }
}
