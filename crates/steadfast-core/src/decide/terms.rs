//! What a policy says: the rules that a decision needs.

use std::num::NonZeroU32;
use std::time::Duration;

use crate::{Backoff, Safety};

/// Attempts of a call, the first included: 3, as in the AWS SDKs' standard mode and the SRE book.
pub const DEFAULT_MAX_ATTEMPTS: NonZeroU32 = NonZeroU32::MIN.saturating_add(2);

/// The rules of a policy that a decision needs.
///
/// ```
/// use steadfast_core::decide::{Admission, HintRule, Strictness, Terms};
///
/// let terms = Terms::default();
/// assert_eq!(terms.max_attempts.get(), 3);
/// assert_eq!(terms.max_hint, None);
/// assert_eq!(terms.hint_rule, HintRule::Add);
/// assert_eq!(terms.strictness, Strictness::Standard);
/// assert_eq!(terms.admission, Admission::Stop);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Terms {
    /// Attempts of a call, the first included. Default: [`DEFAULT_MAX_ATTEMPTS`].
    pub max_attempts: NonZeroU32,
    /// How long to wait where the peer does not say.
    pub backoff: Backoff,
    /// The longest wait that a peer may ask for. Default: none, so the deadline alone limits it.
    pub max_hint: Option<Duration>,
    /// How a hint and the backoff go together.
    pub hint_rule: HintRule,
    /// What an unprotected request may do that the peer did not act on.
    pub strictness: Strictness,
    /// What to do when a layer of ours refuses an attempt.
    pub admission: Admission,
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            max_attempts: DEFAULT_MAX_ATTEMPTS,
            backoff: Backoff::default(),
            max_hint: None,
            hint_rule: HintRule::default(),
            strictness: Strictness::default(),
            admission: Admission::default(),
        }
    }
}

impl Terms {
    /// Whether any outcome could lead to another attempt of a call that is so safe.
    #[inline]
    pub fn may_repeat(&self, safety: impl FnOnce() -> Safety) -> bool {
        let strict = self.strictness == Strictness::Strict;
        self.max_attempts.get() > 1 && !(strict && safety() == Safety::Unprotected)
    }
}

/// How the peer's hint and the own backoff make one wait. Never earlier than the hint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HintRule {
    /// hint + draw: everybody was told the same, so the draw spreads them out.
    #[default]
    Add,
    /// max(hint, draw).
    Max,
}

/// What to do with an unprotected request that the peer did not act on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strictness {
    /// Repeat it: nothing happened.
    #[default]
    Standard,
    /// Stop: the delivery is the peer's word only.
    Strict,
}

/// What to do when a breaker, a cooldown or a bulkhead of ours refuses an attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Admission {
    /// Stop at once: no attempt counted, no wait, no budget.
    #[default]
    Stop,
    /// Wait once until the refusal says it may be over, if that is within the deadline. The refused
    /// attempt does not count and costs no budget.
    WaitOnce,
}
