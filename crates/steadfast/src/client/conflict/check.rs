use std::num::NonZeroU32;
use std::time::Duration;

use steadfast_admission::Mode;
use steadfast_core::Ratio;

use super::Conflict;
use crate::client::{Draft, Profile};

/// All conflicts of a draft.
pub(in crate::client) fn conflicts(draft: &Draft) -> Vec<Conflict> {
    let mut found = Vec::new();
    time(draft, &mut found);
    repeats(draft, &mut found);
    keys(draft, &mut found);
    if draft.breaker.mode() != Mode::Off {
        breaker(draft, &mut found);
    }
    if draft.bulkhead.mode() != Mode::Off {
        bulkhead(draft, &mut found);
    }
    found
}

fn time(draft: &Draft, found: &mut Vec<Conflict>) {
    let (call, attempt) = (draft.call_limit, draft.attempt_timeout);
    if call.is_zero() {
        found.push(Conflict::NoCallLimit);
    }
    if attempt.is_zero() {
        found.push(Conflict::NoAttemptTimeout);
    }
    // Unlimited is no promise that an attempt has that time.
    if attempt > call && attempt != Duration::MAX && !call.is_zero() {
        found.push(Conflict::AttemptOutlastsCall { attempt, call });
    }
    if draft.body.idle().is_zero() || draft.body.total().is_zero() {
        found.push(Conflict::NoBodyTime);
    }
    let margin = draft.propagation.margin();
    if !margin.is_zero() && margin >= attempt {
        found.push(Conflict::MarginTooWide { margin, attempt });
    }
}

fn repeats(draft: &Draft, found: &mut Vec<Conflict>) {
    let (attempts, backoff) = (draft.retry.max_attempts(), draft.retry.backoff());
    if attempts.get() == 1 {
        return;
    }
    let (base, cap, call) = (backoff.base(), backoff.cap(), draft.call_limit);
    if attempts == NonZeroU32::MAX && call == Duration::MAX {
        found.push(Conflict::NoEnd);
    }
    if cap < base {
        found.push(Conflict::CapBelowBase { base, cap });
    }
    if base.min(cap) >= call && !call.is_zero() {
        found.push(Conflict::BaseOutlastsCall { base, call });
    }
    if draft.retry.next_hop().is_some() && draft.retry.owner_mark().is_none() {
        found.push(Conflict::NextHopUntold);
    }
    if let Some(kind) = draft.budgets.kind() {
        if kind.is_nothing() {
            found.push(Conflict::BudgetAllowsNothing { attempts });
        }
        if let Some(invalid) = kind.invalid() {
            found.push(Conflict::Throttle(invalid));
        }
    }
}

fn keys(draft: &Draft, found: &mut Vec<Conflict>) {
    if draft.profile == Profile::Payment && draft.keys.routes().is_empty() {
        found.push(Conflict::PaymentWithoutRoute);
    }
    let lifetime = draft.keys.shortest_lifetime();
    let repeated = draft.retry.max_attempts().get() > 1;
    if let Some(lifetime) = lifetime.filter(|it| repeated && *it < draft.call_limit) {
        let horizon = draft.call_limit;
        found.push(Conflict::KeyForgotten { lifetime, horizon });
    }
}

fn breaker(draft: &Draft, found: &mut Vec<Conflict>) {
    let breaker = &draft.breaker;
    // The time that an attempt has. Where neither limits it, or one is wrong beside the other,
    // there is none to compare with.
    let attempt = draft.attempt_timeout.min(draft.call_limit);
    let limited = attempt == draft.attempt_timeout || draft.attempt_timeout == Duration::MAX;
    let limited = limited && attempt != Duration::MAX;
    let window = breaker.window().as_time();
    let short = |window: &Duration| limited && *window < attempt.saturating_mul(2);
    if let Some(window) = window.filter(short) {
        found.push(Conflict::WindowTooShort { window, attempt });
    }
    let failure_rate = breaker.failure_rate();
    let slow_rate = breaker.slow_calls().map(|(_, rate)| rate);
    let can_open = |rate: Option<Ratio>| rate.is_some_and(|rate| rate <= Ratio::ONE);
    if !can_open(failure_rate) && !can_open(slow_rate) && breaker.consecutive_failures().is_none() {
        found.push(Conflict::BreakerNeverOpens {
            failure_rate,
            slow_rate,
        });
    }
    let lease = breaker.probe_lease();
    if limited && lease < attempt {
        found.push(Conflict::LeaseTooShort { lease, attempt });
    }
    let idle = breaker.idle();
    let needed = window.unwrap_or_default().max(breaker.open().cap());
    if idle < needed {
        found.push(Conflict::ForgottenTooSoon { idle, needed });
    }
}

fn bulkhead(draft: &Draft, found: &mut Vec<Conflict>) {
    let (wait, call) = (draft.bulkhead.max_wait(), draft.call_limit);
    if wait > call {
        found.push(Conflict::WaitOutlastsCall { wait, call });
    }
    let reserve = draft.bulkhead.reserve();
    if reserve >= Ratio::ONE {
        found.push(Conflict::NothingButReserve { reserve });
    }
}

#[cfg(test)]
mod tests;
