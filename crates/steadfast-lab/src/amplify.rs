//! Layers that each repeat while nothing answers: how many calls reach the bottom?

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};

use steadfast::budget::{Ask, Ending, Permit, RatioBudget, Sending, ThrottleBudget};
use steadfast::decide::{BodyState, Decision, Situation, Terms, decide};
use steadfast::{Backoff, Budget, Deadline, Delivery, Hint, Ratio, Safety, Verdict};

/// What is simulated: an outage below layers that know nothing of each other.
///
/// ```
/// use steadfast_lab::amplify::{Amplify, Cap};
///
/// let reached = Amplify::default().run(Cap::Nothing);
/// assert_eq!(reached, [4_000, 16_000, 64_000]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Amplify {
    /// Layers that repeat. Default: 3.
    pub layers: u32,
    /// Attempts of each, the first included. Default: 4.
    pub attempts: NonZeroU32,
    /// Requests of users. Default: 1,000.
    pub requests: u32,
}

/// What caps the retries of each layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cap {
    /// Nothing but the attempts.
    Nothing,
    /// A [`RatioBudget`].
    Ratio(Ratio),
    /// gRPC's [`ThrottleBudget`], with its defaults.
    Throttle,
}

impl Default for Amplify {
    fn default() -> Self {
        Self {
            layers: 3,
            attempts: NonZeroU32::MIN.saturating_add(3),
            requests: 1_000,
        }
    }
}

impl Amplify {
    /// The calls that each layer sent to the one below it, the last of them to the bottom, which
    /// fails them all.
    pub fn run(&self, cap: Cap) -> Vec<u64> {
        let mut terms = Terms::default();
        terms.max_attempts = self.attempts;
        // All at one instant: what is counted is calls, not time.
        terms.backoff = Backoff::default().with_base(Duration::ZERO);
        let mut chain = Chain {
            terms,
            now: tokio::time::Instant::now().into_std(),
            layers: (0..self.layers)
                .map(|_| Layer {
                    budget: cap.make(),
                    sent: 0,
                })
                .collect(),
        };
        for _ in 0..self.requests {
            chain.call(0);
        }
        chain.layers.iter().map(|layer| layer.sent).collect()
    }

    /// The most calls that can reach the bottom; `None` where a `u64` does not hold them.
    pub fn most(&self) -> Option<u64> {
        let each = u64::from(self.attempts.get()).checked_pow(self.layers)?;
        each.checked_mul(self.requests.into())
    }
}

impl Cap {
    fn make(self) -> Option<Arc<dyn Budget>> {
        match self {
            Self::Nothing => None,
            Self::Ratio(ratio) => Some(Arc::new(RatioBudget::new(ratio))),
            Self::Throttle => Some(Arc::new(ThrottleBudget::default())),
        }
    }
}

struct Chain {
    terms: Terms,
    now: Instant,
    layers: Vec<Layer>,
}

struct Layer {
    budget: Option<Arc<dyn Budget>>,
    sent: u64,
}

impl Chain {
    /// One call of this layer, with all its attempts; it fails.
    fn call(&mut self, index: usize) {
        let Some(layer) = self.layers.get(index) else {
            return;
        };
        let budget = layer.budget.clone();
        if let Some(budget) = &budget {
            budget.on_call(self.now);
        }
        let mut sending = Sending::First;
        for attempts in 1.. {
            self.layers[index].sent += 1;
            self.call(index + 1);
            if let Some(budget) = &budget {
                budget.on_outcome(sending, Ending::Failure, self.now);
            }
            let reserve = || match &budget {
                Some(budget) => budget.reserve(Ask::new(self.now)),
                None => Some(Permit::free()),
            };
            let failed = failed(self.now, attempts);
            match decide(&self.terms, &failed, || 0.0, reserve) {
                Decision::Retry(next) => {
                    let sent = next.permit.map(|mut permit| permit.sent());
                    debug_assert!(sent.is_some(), "only a refusal of ours asks no budget");
                }
                Decision::Done | Decision::Stop(_) => return,
            }
            sending = Sending::Retry;
        }
    }
}

/// What is known after this many attempts at a read that nobody answered.
pub(crate) fn failed(now: Instant, attempts: u32) -> Situation {
    Situation {
        verdict: Verdict::Transient(Delivery::Unknown),
        safety: Safety::Safe,
        body: BodyState::Replayable,
        attempts,
        retries: attempts.saturating_sub(1),
        refusals_repeated: 0,
        admissions_awaited: 0,
        admitted_in: None,
        hint: Hint::None,
        throttled: false,
        last_wait: Duration::ZERO,
        now,
        deadline: Deadline::NONE,
        key_lives_until: Deadline::NONE,
    }
}
