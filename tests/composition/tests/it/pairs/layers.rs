//! The layers of the table, each set so that one attempt shows what it does.

use std::num::NonZeroU32;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, Response, StatusCode};
use steadfast::admission::breaker::BreakerConfig;
use steadfast::admission::bulkhead::BulkheadConfig;
use steadfast::admission::cooldown::CooldownConfig;
use steadfast::admission::fallback::Fell;
use steadfast::admission::{BreakerLayer, BulkheadLayer, CooldownLayer, FallbackLayer};
use steadfast::backoff::Jitter;
use steadfast::budget::RateBudget;
use steadfast::deadline::{AttemptTimeoutLayer, BodyTimeoutLayer, CallLimitLayer, PropagateLayer};
use steadfast::idempotency::client::{KeyConfig, KeyLayer, KeySource, Routes};
use steadfast::retry::{AttemptMark, BudgetLayer, HintLayer, RetryConfig, RetryLayer};
use steadfast::{Backoff, CircuitState, Hints, Reason, ResetUnit};

use super::till::Till;

pub(crate) const SECOND: Duration = Duration::from_secs(1);
/// The header in which an attempt is told its time.
pub(crate) const TIME: &str = "x-envoy-expected-rq-timeout-ms";
pub(crate) const KEY: &str = "idempotency-key";

/// The user's answer for one reason: 203, to be known by.
pub(crate) fn fallback(reason: Reason) -> FallbackLayer<fn(&Fell<'_>) -> Response<Bytes>> {
    fallback_for([reason])
}

pub(crate) fn fallback_for<const N: usize>(
    reasons: [Reason; N],
) -> FallbackLayer<fn(&Fell<'_>) -> Response<Bytes>> {
    FallbackLayer::new(reasons, |_| {
        let mut answer = Response::new(Bytes::new());
        *answer.status_mut() = StatusCode::NON_AUTHORITATIVE_INFORMATION;
        answer
    })
}

pub(crate) fn call_limit(time: Duration) -> CallLimitLayer {
    CallLimitLayer::new(time)
}

/// Puts a key on every POST.
pub(crate) fn key() -> KeyLayer {
    KeyLayer::new(key_config())
}

/// Refuses every POST that brings no key.
pub(crate) fn explicit_key() -> KeyLayer {
    KeyLayer::new(key_config().with_source(KeySource::RequireExplicit))
}

fn key_config() -> KeyConfig {
    KeyConfig::new(Routes::new().any_write("a.example").unwrap())
}

/// Three attempts, a second apart, from a budget that is never empty.
pub(crate) fn retry() -> RetryLayer {
    RetryLayer::new(retry_config())
}

pub(crate) fn retry_config() -> RetryConfig {
    let backoff = Backoff::default().with_base(SECOND).with_cap(SECOND);
    RetryConfig::new()
        .with_backoff(backoff.with_jitter(Jitter::None))
        .with_budget(RateBudget::new(1_000, SECOND))
}

/// The same with waits that are not seen, for real clocks.
pub(crate) fn quick_retry() -> RetryLayer {
    RetryLayer::new(retry_config().with_backoff(quick_backoff()))
}

pub(crate) fn quick_backoff() -> Backoff {
    let wait = Duration::from_millis(5);
    let backoff = Backoff::default().with_base(wait).with_throttled_base(wait);
    backoff.with_cap(wait).with_jitter(Jitter::None)
}

/// Below a loop whose attempts are told by a header.
pub(crate) fn budget(till: &Till) -> BudgetLayer {
    BudgetLayer::new(till.clone()).with_mark(AttemptMark::EnvoyAttemptCount)
}

pub(crate) fn cooldown() -> CooldownLayer {
    CooldownLayer::new(CooldownConfig::default())
}

/// One place, and nobody may wait.
pub(crate) fn bulkhead() -> BulkheadLayer {
    BulkheadLayer::new(BulkheadConfig::default().with_limit(NonZeroU32::MIN))
}

/// One place, for which a call may wait so long.
pub(crate) fn queue(wait: Duration) -> BulkheadLayer {
    let config = BulkheadConfig::default().with_limit(NonZeroU32::MIN);
    BulkheadLayer::new(config.with_max_wait(wait))
}

/// Opens at the first failure, for five seconds.
pub(crate) fn breaker() -> BreakerLayer {
    BreakerLayer::new(breaker_config())
}

pub(crate) fn breaker_config() -> BreakerConfig {
    let open = Backoff::default().with_base(5 * SECOND);
    BreakerConfig::default()
        .with_consecutive_failures(NonZeroU32::MIN)
        .with_open(open.with_cap(60 * SECOND).with_jitter(Jitter::None))
}

pub(crate) fn state(breaker: &BreakerLayer) -> CircuitState {
    breaker.handle().state("a.example")
}

pub(crate) fn in_flight(bulkhead: &BulkheadLayer) -> usize {
    bulkhead.handle().in_flight("a.example")
}

/// Reads what every layer reads.
pub(crate) fn hint_layer() -> HintLayer {
    HintLayer::default()
}

/// Reads a header that only this layer was told of.
pub(crate) fn taught() -> HintLayer {
    let name = HeaderName::from_static(TAUGHT);
    HintLayer::new(Hints::default().with_reset(name, ResetUnit::DeltaSeconds))
}

/// The header that only [`taught`] reads.
pub(crate) const TAUGHT: &str = "x-come-back";

pub(crate) fn attempt_timeout(time: Duration) -> AttemptTimeoutLayer {
    AttemptTimeoutLayer::new(time)
}

pub(crate) fn body_timeout(idle: Duration) -> BodyTimeoutLayer {
    BodyTimeoutLayer::default().with_idle(idle)
}

pub(crate) fn propagate() -> PropagateLayer {
    PropagateLayer::default()
}
