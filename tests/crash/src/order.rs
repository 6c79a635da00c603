//! What clients ask for.

use serde::{Deserialize, Serialize};

/// One request's payload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) account: i32,
    pub(crate) cents: i64,
    /// Whether the handler refuses it, after it has written.
    pub(crate) declined: bool,
}

/// What the handler answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Receipt {
    /// Of this one execution, so that the answers of two can not be equal.
    pub(crate) run: String,
    /// The row in the books; none where the order was refused.
    pub(crate) receipt: Option<i64>,
}

/// How an execution ends, as it is known when its row is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It commits.
    Kept,
    /// 402, stored without the effect.
    Declined,
    /// 503, of which nothing is kept.
    Failed,
    /// The handler panics.
    Panicked,
}

impl Fate {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Declined => "declined",
            Self::Failed => "failed",
            Self::Panicked => "panicked",
        }
    }
}
