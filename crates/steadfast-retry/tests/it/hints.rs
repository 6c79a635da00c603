use std::time::Duration;

use steadfast_core::decide::HintRule;
use steadfast_core::{Backoff, Hint, Jitter, Reason};
use steadfast_kit::Chunks;
use tower::{Layer, ServiceExt};

use crate::stack::*;

const BACKOFF: Duration = Duration::from_millis(200);

fn told(status: u16, retry_after: &str) -> Script {
    answer(
        status,
        &[("retry-after", retry_after)],
        Chunks::of(["told"]),
    )
}

fn fixed() -> Backoff {
    Backoff::default()
        .with_jitter(Jitter::None)
        .with_base(BACKOFF)
        .with_throttled_base(BACKOFF)
        .with_multiplier(steadfast_core::backoff::Multiplier::try_from(1.0).unwrap())
}

/// The time between the first attempt and the second, which is answered 200.
async fn gap(status: u16, retry_after: &str) -> (Duration, Hint) {
    let events = Events::default();
    let config = events.observe(
        config()
            .with_backoff(fixed())
            .with_total_limit(Duration::MAX),
    );
    let (retry, probe) = stack(
        config,
        vec![told(status, retry_after), crate::stack::status(200, "")],
    );
    let started = tokio::time::Instant::now();
    run(&retry, get()).await.unwrap();
    assert_eq!(probe.calls(), 2, "{retry_after}");
    let hint = events.attempts.lock().unwrap()[0].hint;
    (started.elapsed(), hint)
}

/// O-01
#[tokio::test(start_paused = true)]
async fn fractional_hints_are_never_undercut() {
    for value in ["0.129", "0.503", "1.5", "299.997", "292.052427053"] {
        for status in [429, 503] {
            let (gap, hint) = gap(status, value).await;
            assert!(
                gap.as_secs_f64() >= value.parse::<f64>().unwrap(),
                "{value}: {gap:?}"
            );
            assert!(matches!(hint, Hint::Wait(_)));
        }
    }
}

/// O-02: never below the own backoff, and unreadable ones are seen.
#[tokio::test(start_paused = true)]
async fn negative_past_and_zero_hints_leave_the_own_backoff() {
    let nothing = Hint::Wait(Duration::ZERO);
    for (value, want) in [
        ("-1", Hint::Unreadable),
        ("-43", Hint::Unreadable),
        ("soon", Hint::Unreadable),
        ("0", nothing),
        ("Wed, 21 Oct 2015 07:28:00 GMT", nothing),
    ] {
        let (gap, hint) = gap(503, value).await;
        assert!((BACKOFF..BACKOFF * 2).contains(&gap), "{value}: {gap:?}");
        assert_eq!(hint, want, "{value}");
    }
}

/// O-02: too many digits are longer than any limit.
#[tokio::test(start_paused = true)]
async fn huge_hints_stop_the_call() {
    for value in ["9223372037", "9999999999", "99999999999999999999"] {
        let (retry, probe) = stack(config(), vec![told(503, value)]);
        let started = tokio::time::Instant::now();
        assert_eq!(
            reason(&run(&retry, get()).await),
            Some(Reason::Deadline),
            "{value}"
        );
        assert_eq!(probe.calls(), 1);
        assert!(started.elapsed().is_zero());
    }
}

/// O-04: longer than the cap or the time left.
#[tokio::test(start_paused = true)]
async fn a_hint_past_the_deadline_or_the_cap_returns_the_answer_at_once_and_costs_no_budget() {
    let limited = || {
        config()
            .with_total_limit(Duration::from_secs(10))
            .with_max_hint(Duration::from_secs(60))
            .with_budget(crate::budgets::Never)
    };
    for (status, value, want) in [
        (503, "3600", Reason::HintOverLimit),
        (429, "30", Reason::Deadline),
    ] {
        let started = tokio::time::Instant::now();
        let (retry, probe) = stack(limited(), vec![told(status, value)]);
        let answered = run(&retry, get()).await;
        assert_eq!(
            reason(&answered),
            Some(want),
            "not the budget, which is asked last"
        );
        let response = answered.unwrap();
        assert_eq!(response.status(), status);
        assert_eq!(response.headers()["retry-after"], value);
        assert_eq!(text(response).await, "told");
        assert_eq!(probe.calls(), 1);
        assert!(started.elapsed().is_zero());
    }
}

/// O-05
#[tokio::test(start_paused = true)]
async fn a_hint_is_not_a_verdict() {
    for (status, retry_after, want) in [
        (429, None, 3),
        (503, None, 3),
        (429, Some("2"), 3),
        (503, Some("2"), 3),
        (413, None, 1),
        (413, Some("soon"), 1),
        (413, Some("2"), 3),
        (404, Some("2"), 1),
        (400, Some("2"), 1),
        (501, Some("2"), 1),
    ] {
        let step = |_| match retry_after {
            Some(value) => told(status, value),
            None => crate::stack::status(status, ""),
        };
        let (retry, probe) = stack(config(), (0..3).map(step).collect());
        run(&retry, get()).await.unwrap();
        assert_eq!(probe.calls(), want, "{status} with {retry_after:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_hint_on_a_success_causes_no_wait() {
    let (retry, probe) = stack(config(), vec![told(200, "10")]);
    let started = tokio::time::Instant::now();
    run(&retry, get()).await.unwrap();
    assert!(started.elapsed().is_zero());
    assert_eq!(probe.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn hint_and_draw_are_added_or_the_larger_one_rules() {
    for (rule, want) in [(HintRule::Add, 2200), (HintRule::Max, 2000)] {
        let events = Events::default();
        let config = events.observe(config().with_backoff(fixed()).with_hint_rule(rule));
        let (retry, _) = stack(config, vec![told(503, "2"), crate::stack::status(200, "")]);
        run(&retry, get()).await.unwrap();
        assert_eq!(events.waits(), [Some(Duration::from_millis(want)), None]);
    }
}

/// A peer's own header, read once below by a hint layer that knows it.
#[tokio::test(start_paused = true)]
async fn a_hint_that_a_layer_below_has_read_is_honoured() {
    let reset = http::HeaderName::from_static("x-ratelimit-reset");
    let hints =
        steadfast_core::Hints::default().with_reset(reset, steadfast_core::ResetUnit::DeltaSeconds);
    let limited = answer(429, &[("x-ratelimit-reset", "9")], Chunks::of(["limited"]));
    let probe = Inner::script(vec![limited, crate::stack::status(200, "")]);
    let below = steadfast_retry::HintLayer::new(hints).layer(probe.clone());
    let retry = steadfast_retry::RetryLayer::new(config()).layer(below);
    let started = tokio::time::Instant::now();
    retry.oneshot(get()).await.unwrap();
    assert!(started.elapsed() >= Duration::from_secs(9));
    assert_eq!(probe.calls(), 2);
}
