//! Whether to try again: a pure function of what is known when an attempt has ended.

use std::time::{Duration, Instant};

use crate::{Deadline, Delivery, Hint, Jitter, Reason, Safety, Verdict};

mod terms;

pub use terms::{Admission, DEFAULT_MAX_ATTEMPTS, HintRule, Strictness, Terms};

/// Whether the request body can be sent once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyState {
    /// Every byte that was sent is kept, the rest is still to come.
    Replayable,
    /// It was too long to keep, or it failed itself.
    NotReplayable,
    /// The answer has been handed on.
    Committed,
}

/// What is known when an attempt has ended.
#[derive(Clone, Copy, Debug)]
pub struct Situation {
    /// What the attempt's outcome means.
    pub verdict: Verdict,
    /// What a repeat may do.
    pub safety: Safety,
    /// Whether the body can be sent again.
    pub body: BodyState,
    /// Attempts made, this one included, protocol refusals not.
    pub attempts: u32,
    /// Retries since the backoff began, this attempt not included: 0 after the first attempt.
    pub retries: u32,
    /// Protocol refusals of this call that were repeated already.
    pub refusals_repeated: u32,
    /// Refusals of ours that this call has waited out already.
    pub admissions_awaited: u32,
    /// When a refusal of ours may be over, where it says so.
    pub admitted_in: Option<Duration>,
    /// What the peer said about when to come back.
    pub hint: Hint,
    /// Whether the peer said that it is overloaded (429).
    pub throttled: bool,
    /// The wait before this attempt; zero before the first.
    pub last_wait: Duration,
    /// The present.
    pub now: Instant,
    /// When the call must have ended.
    pub deadline: Deadline,
    /// When the peer may have forgotten the call's key.
    pub key_lives_until: Deadline,
}

/// What follows from an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision<P> {
    /// It succeeded.
    Done,
    /// Wait, then send again.
    Retry(Next<P>),
    /// Hand on what there is, for this reason.
    Stop(Reason),
}

/// The next attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next<P> {
    /// How long to wait first.
    pub wait: Duration,
    /// What the budget gave; `None` where it was not asked, after a refusal of ours.
    pub permit: Option<P>,
    /// Whether it counts as an attempt: the repeat of a protocol refusal does not.
    pub counted: bool,
}

/// Decides what follows from an attempt.
///
/// The questions come in this order, each with a reason of its own: retryable at all → safe →
/// body can be sent again → attempts left → hint against `max_hint` and deadline → wait against
/// deadline and the key's life → budget. `draw` gives one number in [0, 1) and is called at most
/// once; `reserve` asks the budget and is called last, only if everything else said yes.
pub fn decide<P>(
    terms: &Terms,
    situation: &Situation,
    draw: impl FnOnce() -> f64,
    reserve: impl FnOnce() -> Option<P>,
) -> Decision<P> {
    if situation.verdict.is_success() {
        return Decision::Done;
    }
    let next = |(wait, counted), permit| {
        Decision::Retry(Next {
            wait,
            permit,
            counted,
        })
    };
    if awaits_admission(terms, situation) {
        return match wait_for_admission(terms, situation, draw) {
            Ok(wait) => next((wait, true), None),
            Err(reason) => Decision::Stop(reason),
        };
    }
    match wait_for_next(terms, situation, draw) {
        Err(reason) => Decision::Stop(reason),
        Ok(wait) => match reserve() {
            Some(permit) => next(wait, Some(permit)),
            None => Decision::Stop(Reason::BudgetExhausted),
        },
    }
}

/// Whether the attempt was refused by a layer of ours whose refusals pass, for the first time.
fn awaits_admission(terms: &Terms, situation: &Situation) -> bool {
    let passes = matches!(
        situation.verdict,
        Verdict::Rejected(Reason::CircuitOpen | Reason::Cooldown | Reason::BulkheadFull)
    );
    passes && terms.admission == Admission::WaitOnce && situation.admissions_awaited == 0
}

/// Nothing was sent, so only body and time are in question. The draw spreads those who wait for
/// the same refusal to be over.
fn wait_for_admission(
    terms: &Terms,
    situation: &Situation,
    draw: impl FnOnce() -> f64,
) -> Result<Duration, Reason> {
    has_body(situation)?;
    let drawn = backoff(terms, situation, draw);
    let wait = situation
        .admitted_in
        .unwrap_or_default()
        .saturating_add(drawn);
    in_time(situation, wait)?;
    Ok(wait)
}

fn wait_for_next(
    terms: &Terms,
    situation: &Situation,
    draw: impl FnOnce() -> f64,
) -> Result<(Duration, bool), Reason> {
    let delivery = repeatable(situation)?;
    safe(terms, situation.safety, delivery)?;
    has_body(situation)?;
    if at_once(terms, situation) {
        in_time(situation, Duration::ZERO)?;
        return Ok((Duration::ZERO, false));
    }
    if situation.attempts >= terms.max_attempts.get() {
        return Err(Reason::AttemptsExhausted);
    }
    let hint = hinted(terms, situation)?;
    let drawn = || backoff(terms, situation, draw);
    let wait = match (situation.hint, terms.hint_rule) {
        (Hint::Exactly(_), _) => hint,
        (_, HintRule::Add) => hint.saturating_add(drawn()),
        (_, HintRule::Max) => hint.max(drawn()),
    };
    in_time(situation, wait)?;
    Ok((wait, true))
}

/// Retryable at all?
fn repeatable(situation: &Situation) -> Result<Delivery, Reason> {
    match situation.verdict {
        _ if situation.hint == Hint::Stop => Err(Reason::PeerSaidNo),
        Verdict::Transient(Delivery::Answered) => Err(Reason::NotRetryable),
        Verdict::Transient(delivery) => Ok(delivery),
        Verdict::Refused => Ok(Delivery::Unprocessed),
        Verdict::Success | Verdict::Permanent(_) => Err(Reason::NotRetryable),
        Verdict::PeerSaidNo(_) => Err(Reason::PeerSaidNo),
        Verdict::Rejected(reason) => Err(reason),
    }
}

/// The table: safety against delivery.
fn safe(terms: &Terms, safety: Safety, delivery: Delivery) -> Result<(), Reason> {
    match (delivery, safety) {
        (Delivery::Unsent | Delivery::Unprocessed, Safety::Unprotected) => match terms.strictness {
            Strictness::Standard => Ok(()),
            Strictness::Strict => Err(Reason::Unprotected),
        },
        (Delivery::Unknown, Safety::Unprotected) => Err(Reason::Unprotected),
        (Delivery::Answered, _) => Err(Reason::NotRetryable),
        (Delivery::Unsent | Delivery::Unprocessed | Delivery::Unknown, _) => Ok(()),
    }
}

fn has_body(situation: &Situation) -> Result<(), Reason> {
    match situation.body {
        BodyState::Replayable => Ok(()),
        BodyState::NotReplayable => Err(Reason::BodyNotReplayable),
        BodyState::Committed => Err(Reason::Committed),
    }
}

fn backoff(terms: &Terms, situation: &Situation, draw: impl FnOnce() -> f64) -> Duration {
    let Situation {
        retries,
        last_wait,
        throttled,
        ..
    } = *situation;
    let drawn = match terms.backoff.jitter() {
        Jitter::None => 0.0,
        _ => draw(),
    };
    terms.backoff.wait(retries, last_wait, throttled, drawn)
}

/// A protocol refusal is repeated once at once, unless the caller wants one attempt only.
fn at_once(terms: &Terms, situation: &Situation) -> bool {
    situation.verdict == Verdict::Refused
        && situation.refusals_repeated == 0
        && terms.max_attempts.get() > 1
}

/// The peer's own time, if it is one that we will wait for.
fn hinted(terms: &Terms, situation: &Situation) -> Result<Duration, Reason> {
    let Some(hint) = situation.hint.wait() else {
        return Ok(Duration::ZERO);
    };
    if terms.max_hint.is_some_and(|max| hint > max) {
        return Err(Reason::HintOverLimit);
    }
    if situation.deadline.reached_by(situation.now, hint) {
        return Err(Reason::Deadline);
    }
    Ok(hint)
}

fn in_time(situation: &Situation, wait: Duration) -> Result<(), Reason> {
    if situation.deadline.reached_by(situation.now, wait) {
        return Err(Reason::Deadline);
    }
    let keyed = situation.safety == Safety::Keyed;
    if keyed && situation.key_lives_until.reached_by(situation.now, wait) {
        return Err(Reason::KeyExpired);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
