use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use super::{Ask, Budget, Ending, Permit, Sending, Settle, Used};
use crate::Ratio;
use crate::sync::atomic::{AtomicU64, Ordering};

/// Tokens at the start and at most: 10, the example of gRFC A6 and gRPC's usual setting.
pub const DEFAULT_MAX_TOKENS: u32 = 10;
/// Tokens earned by a success: 0.1, from the same example.
pub const DEFAULT_TOKEN_RATIO: Ratio = Ratio::from_millionths(100_000);
/// gRFC A6: maxTokens must lie in the range (0, 1000].
const MAX_TOKENS: u32 = 1000;
/// gRFC A6 counts three decimals of a token.
const ONE_TOKEN: u64 = 1000;

/// gRPC's retry throttle (gRFC A6): a failure takes one token, a success adds a fraction of one,
/// and retries are allowed only while more than half of the tokens are there.
///
/// Bound: without successes at most `⌈max / 2⌉ − 1` retries are allowed between full and
/// throttled, however many calls fail at once; after that retries per call are at most
/// `ratio × successes / calls`. It is switched off at a share of failures of about
/// `ratio / (1 + ratio)`. A retry that asks for a [share](Ask::share) takes the rest of `1 / share`
/// tokens beside the one of the failure before it, so that it has that share of both bounds; it
/// gives them back if it is not sent.
///
/// ```
/// use steadfast_core::Ratio;
/// use steadfast_core::budget::ThrottleBudget;
///
/// let budget = ThrottleBudget::default();
/// assert_eq!(budget.max_tokens(), 10);
/// assert_eq!(budget.token_ratio(), Ratio::percent(10)?);
///
/// let error = ThrottleBudget::try_new(2000, Ratio::ONE).unwrap_err();
/// assert_eq!(error.to_string(), "2000 tokens are not between 1 and 1000 (gRFC A6)");
/// # Ok::<(), steadfast_core::InvalidRatio>(())
/// ```
#[derive(Clone, Debug)]
pub struct ThrottleBudget(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    max: u64,
    earned: u64,
    /// In thousandths of a token.
    tokens: AtomicU64,
}

impl Default for ThrottleBudget {
    fn default() -> Self {
        Self::with_parts(DEFAULT_MAX_TOKENS, DEFAULT_TOKEN_RATIO)
    }
}

impl ThrottleBudget {
    /// A throttle of so many tokens, to which each success adds `ratio`.
    ///
    /// # Errors
    ///
    /// When `max_tokens` is not in 1 to 1000, or `ratio` is below one thousandth.
    pub fn try_new(max_tokens: u32, ratio: Ratio) -> Result<Self, InvalidThrottle> {
        if !(1..=MAX_TOKENS).contains(&max_tokens) {
            return Err(InvalidThrottle::Tokens(max_tokens));
        }
        if thousandths(ratio) == 0 {
            return Err(InvalidThrottle::Ratio(ratio));
        }
        Ok(Self::with_parts(max_tokens, ratio))
    }

    fn with_parts(max_tokens: u32, ratio: Ratio) -> Self {
        let max = u64::from(max_tokens) * ONE_TOKEN;
        let earned = thousandths(ratio);
        Self(Arc::new(Shared {
            max,
            earned,
            tokens: AtomicU64::new(max),
        }))
    }

    /// Tokens at the start and at most.
    pub fn max_tokens(&self) -> u32 {
        (self.0.max / ONE_TOKEN) as u32
    }

    /// Tokens earned by a success, to three decimals.
    pub fn token_ratio(&self) -> Ratio {
        Ratio::from_millionths((self.0.earned * 1000) as u32)
    }
}

fn thousandths(ratio: Ratio) -> u64 {
    u64::from(ratio.as_millionths() / 1000)
}

impl Budget for ThrottleBudget {
    fn on_call(&self, _: Instant) {}

    fn on_success_at_once(&self, _: &dyn Fn() -> Instant) {
        self.0.on_ending(Ending::Success);
    }

    fn on_outcome(&self, _: Sending, ending: Ending, _: Instant) {
        self.0.on_ending(ending);
    }

    fn reserve(&self, ask: Ask) -> Option<Permit> {
        let Shared { max, tokens, .. } = &*self.0;
        let more = ask.cost_of(ONE_TOKEN)? - ONE_TOKEN;
        if more == 0 {
            let tokens = tokens.load(Ordering::Relaxed);
            return (tokens * 2 > *max).then(Permit::free);
        }
        let take = |now: u64| now.checked_sub(more).filter(|_| now * 2 > *max);
        tokens
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
            .ok()?;
        Some(Permit::new(self.0.clone(), more))
    }
}

impl Shared {
    fn on_ending(&self, ending: Ending) {
        let Shared {
            max,
            earned,
            tokens,
        } = self;
        let change = |now: u64| match ending {
            Ending::Success if now == *max => None,
            Ending::Success => Some((now + earned).min(*max)),
            Ending::Failure if now == 0 => None,
            Ending::Failure => Some(now.saturating_sub(ONE_TOKEN)),
            Ending::Neither | Ending::NotSent => None,
        };
        // Refused changes are those that would change nothing.
        let _ = tokens.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
    }
}

impl Settle for Shared {
    fn settle(&self, taken: u64, used: Used) {
        if used == Used::Unsent {
            let back = |now: u64| Some((now + taken).min(self.max));
            let _ = self
                .tokens
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, back);
        }
    }
}

/// Settings that gRFC A6 does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidThrottle {
    /// The number of tokens.
    Tokens(u32),
    /// The tokens earned by a success.
    Ratio(Ratio),
}

impl fmt::Display for InvalidThrottle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tokens(tokens) => {
                write!(
                    f,
                    "{tokens} tokens are not between 1 and {MAX_TOKENS} (gRFC A6)"
                )
            }
            Self::Ratio(ratio) => {
                write!(
                    f,
                    "a token ratio of {ratio} is below one thousandth (gRFC A6)"
                )
            }
        }
    }
}

impl Error for InvalidThrottle {}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "an arbitrary instant")]

    use super::*;

    fn outcomes(budget: &ThrottleBudget, ending: Ending, times: u32) {
        (0..times).for_each(|_| budget.on_outcome(Sending::First, ending, Instant::now()));
    }

    fn allows(budget: &ThrottleBudget) -> bool {
        budget.reserve(Ask::new(Instant::now())).is_some()
    }

    #[test]
    fn throttled_at_exactly_half_and_reopened_above() {
        let budget = ThrottleBudget::default();
        outcomes(&budget, Ending::Failure, 4);
        assert!(allows(&budget), "6 of 10");
        outcomes(&budget, Ending::Failure, 1);
        assert!(!allows(&budget), "5 of 10");
        outcomes(&budget, Ending::Success, 1);
        assert!(allows(&budget), "5.1 of 10");
        outcomes(&budget, Ending::Failure, 100);
        assert!(!allows(&budget), "never below 0");
        outcomes(&budget, Ending::Success, 50);
        assert!(!allows(&budget), "5 of 10");
        outcomes(&budget, Ending::Success, 1);
        assert!(allows(&budget));
        outcomes(&budget, Ending::Success, 1000);
        outcomes(&budget, Ending::Failure, 5);
        assert!(!allows(&budget), "never above 10");
    }

    #[test]
    fn odd_maxima_are_halved_exactly() {
        let budget = ThrottleBudget::try_new(5, Ratio::percent(50).unwrap()).unwrap();
        outcomes(&budget, Ending::Failure, 2);
        assert!(allows(&budget), "3 > 2.5");
        outcomes(&budget, Ending::Failure, 1);
        assert!(!allows(&budget), "2 < 2.5");
        outcomes(&budget, Ending::Success, 1);
        assert!(!allows(&budget), "2.5 is exactly half");
        outcomes(&budget, Ending::Success, 1);
        assert!(allows(&budget));
    }

    #[test]
    fn of_a_share_a_retry_takes_as_much_more() {
        let ask = |percent| Ask {
            share: Ratio::percent(percent).unwrap(),
            ..Ask::new(Instant::now())
        };
        for (percent, retries) in [(100, 49), (50, 25), (25, 13), (1, 1), (0, 0)] {
            let budget = ThrottleBudget::try_new(100, Ratio::ONE).unwrap();
            let mut sent = 0;
            while sent < 1000 {
                outcomes(&budget, Ending::Failure, 1);
                let Some(mut permit) = budget.reserve(ask(percent)) else {
                    break;
                };
                permit.sent();
                sent += 1;
            }
            assert_eq!(sent, retries, "{percent}%");
        }
        let budget = ThrottleBudget::default();
        outcomes(&budget, Ending::Failure, 2);
        drop(budget.reserve(ask(25)).unwrap());
        assert_eq!(budget.0.tokens.load(Ordering::Relaxed), 8 * ONE_TOKEN);
        assert!(budget.reserve(ask(1)).is_none(), "99 more than there are");
    }

    #[test]
    fn counts_are_exact_under_threads() {
        let budget = ThrottleBudget::try_new(1000, Ratio::ONE).unwrap();
        outcomes(&budget, Ending::Failure, 600);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| outcomes(&budget, Ending::Success, 50));
                scope.spawn(|| outcomes(&budget, Ending::Failure, 25));
            }
        });
        assert_eq!(budget.0.tokens.load(Ordering::Relaxed), 500 * ONE_TOKEN);
        assert!(!allows(&budget));
    }

    #[test]
    fn settings_outside_of_the_grfc_are_refused_by_value() {
        assert!(ThrottleBudget::try_new(0, Ratio::ONE).is_err());
        let tiny = Ratio::from_millionths(999);
        let error = ThrottleBudget::try_new(10, tiny).unwrap_err().to_string();
        assert!(error.contains("0.000999"), "{error}");
    }
}
