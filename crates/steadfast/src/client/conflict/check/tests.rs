use std::time::Duration;

use steadfast_admission::breaker::Window;
use steadfast_core::Backoff;
use steadfast_core::budget::InvalidThrottle;
use steadfast_deadline::PropagateConfig;
use steadfast_idempotency::client::Routes;

use super::*;
use crate::client::{BudgetKind, Budgets};

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn percent(percent: u32) -> Ratio {
    Ratio::percent(percent).unwrap()
}

type Change = fn(Draft) -> Draft;

fn breaker(
    draft: Draft,
    change: impl Fn(
        steadfast_admission::breaker::BreakerConfig,
    ) -> steadfast_admission::breaker::BreakerConfig,
) -> Draft {
    let breaker = change(draft.breaker().clone());
    draft.with_breaker(breaker)
}

fn budget(draft: Draft, kind: BudgetKind) -> Draft {
    draft.with_budgets(Budgets::Shared(kind))
}

/// Each change of the default, what is said of it, and where it is harmless.
fn cases() -> Vec<(Change, &'static str)> {
    vec![
        (|it| it.with_call_limit(Duration::ZERO), "call_limit is 0s"),
        (
            |it| it.with_attempt_timeout(Duration::ZERO),
            "attempt_timeout is 0s",
        ),
        (
            |it| it.with_attempt_timeout(seconds(31)),
            "attempt_timeout is 31s, longer",
        ),
        (
            |it| {
                let endless = it.with_call_limit(Duration::MAX);
                endless.with_max_attempts(NonZeroU32::MAX)
            },
            "retry.attempts and call_limit are both unlimited",
        ),
        (
            |it| it.with_backoff(Backoff::default().with_cap(Duration::from_millis(49))),
            "retry.backoff_cap is 49ms, shorter than retry.backoff_base, 50ms",
        ),
        (
            |it| {
                it.with_backoff(
                    Backoff::default()
                        .with_base(seconds(30))
                        .with_cap(seconds(30)),
                )
            },
            "retry.backoff_base is 30s, not shorter than call_limit, 30s",
        ),
        (
            |it| {
                let none = BudgetKind::Ratio {
                    ratio: Ratio::ZERO,
                    minimum_per_second: Ratio::ZERO,
                    window: seconds(10),
                    reserve: Ratio::ZERO,
                };
                budget(it, none)
            },
            "retry.attempts is 3, but the budget never allows a retry",
        ),
        (
            |it| {
                let tokens = BudgetKind::Throttle {
                    max_tokens: 0,
                    token_ratio: percent(10),
                };
                budget(it, tokens)
            },
            "budget: 0 tokens are not between 1 and 1000",
        ),
        (
            |it| {
                let half = steadfast_core::Allowance::new(NonZeroU32::MIN, percent(50));
                let retry = it.retry().clone().with_next_hop(half);
                it.with_retry(retry)
            },
            "retry.next_hop leaves a part of the attempts to the next hop, but",
        ),
        (
            |it| breaker(it, |it| it.with_window(Window::time(seconds(19)))),
            "breaker.window is 19s, shorter than two attempt timeouts of 10s",
        ),
        (
            |it| breaker(it, |it| it.with_failure_rate(percent(101))),
            "breaker can never open: failure_rate is 101%, slow_rate is off",
        ),
        (
            |it| {
                breaker(it, |it| {
                    let slow = it.with_slow_calls(seconds(1), percent(200));
                    slow.without_failure_rate()
                })
            },
            "breaker can never open: failure_rate is off, slow_rate is 200%",
        ),
        (
            |it| breaker(it, |it| it.with_probe_lease(seconds(9))),
            "breaker.probe_lease is 9s, shorter than attempt_timeout, 10s",
        ),
        (
            |it| breaker(it, |it| it.with_idle(seconds(59))),
            "breaker.idle is 59s, shorter than 60s",
        ),
        (
            |it| {
                let waits = it.bulkhead().clone().with_max_wait(seconds(31));
                it.with_bulkhead(waits)
            },
            "bulkhead.max_wait is 31s, longer than call_limit, 30s",
        ),
        (
            |it| {
                let reserved = it.bulkhead().clone().with_reserve(Ratio::ONE);
                it.with_bulkhead(reserved)
            },
            "bulkhead.reserve is 100%: only critical calls ever get a place",
        ),
        (
            |it| {
                let routes = Routes::new().any_write("payments.example").unwrap();
                let keys = it.keys().clone().with_routes(routes);
                it.with_keys(keys.with_lifetime(seconds(29)))
            },
            "keys.lifetime is 29s, shorter than the time in which a call is repeated",
        ),
        (
            |_| Draft::of(Profile::Payment),
            "profile is payment, but keys.routes declares no route",
        ),
        (
            |it| {
                let silent = it.body_timeout().with_idle(Duration::ZERO);
                it.with_body_timeout(silent)
            },
            "body.idle or body.total is 0s",
        ),
        (
            |it| it.with_propagation(PropagateConfig::default().with_margin(seconds(10))),
            "propagation.margin is 10s, not shorter than attempt_timeout, 10s",
        ),
    ]
}

#[test]
fn each_impossible_combination_is_named() {
    for (change, said) in cases() {
        let found = conflicts(&change(Draft::of(Profile::Default)));
        let [conflict] = &found[..] else {
            panic!("{said}: {found:?}");
        };
        let text = conflict.to_string();
        assert!(text.starts_with(said), "{text}");
    }
}

#[test]
fn what_is_off_or_unlimited_need_not_fit() {
    let harmless: [Change; 6] = [
        |it| {
            it.with_call_limit(Duration::MAX)
                .with_attempt_timeout(Duration::MAX)
        },
        |it| {
            it.with_attempt_timeout(Duration::MAX)
                .with_breaker(it_breaker().with_window(Window::time(seconds(60))))
        },
        |it| {
            breaker(it, |it| {
                it.with_mode(Mode::Off).with_failure_rate(percent(101))
            })
        },
        |it| {
            let off = it.bulkhead().clone().with_mode(Mode::Off);
            it.with_bulkhead(off.with_reserve(Ratio::ONE))
        },
        |it| {
            let once = it.with_max_attempts(NonZeroU32::MIN);
            let none = BudgetKind::Rate {
                retries: 0,
                interval: seconds(1),
                reserve: Ratio::ZERO,
            };
            budget(once, none)
        },
        |it| {
            breaker(it, |it| {
                it.with_window(Window::calls(NonZeroU32::MIN).unwrap())
            })
        },
    ];
    for change in harmless {
        let found = conflicts(&change(Draft::of(Profile::Default)));
        assert_eq!(found, []);
    }
}

fn it_breaker() -> steadfast_admission::breaker::BreakerConfig {
    steadfast_admission::breaker::BreakerConfig::new()
}

#[test]
fn a_budget_that_is_spent_from_the_start_is_found_in_every_kind() {
    let (ratio, reserve) = (Ratio::ZERO, Ratio::ZERO);
    let nothing = [
        BudgetKind::Concurrency { ratio, minimum: 0 },
        BudgetKind::Refund {
            capacity: 4,
            transient_cost: 5,
            throttled_cost: 10,
            reserve,
        },
        BudgetKind::Rate {
            retries: 0,
            interval: seconds(60),
            reserve,
        },
    ];
    for kind in nothing {
        let found = conflicts(&budget(Draft::of(Profile::Default), kind));
        let attempts = NonZeroU32::new(3).unwrap();
        assert_eq!(
            found,
            [Conflict::BudgetAllowsNothing { attempts }],
            "{kind:?}"
        );
    }
    let ratio = Ratio::from_millionths(999);
    let throttle = BudgetKind::Throttle {
        max_tokens: 10,
        token_ratio: ratio,
    };
    let found = conflicts(&budget(Draft::of(Profile::Default), throttle));
    assert_eq!(found, [Conflict::Throttle(InvalidThrottle::Ratio(ratio))]);
}
