//! A client's policy is replaced while calls go on.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use steadfast::client::{BudgetKind, Budgets, Draft, Policy, Profile, StandardLayer};
use steadfast::{CircuitState, Reason, Rejected, Report};
use tower::{Layer, Service, ServiceExt, service_fn};

use crate::client::{get, scripted, status};

fn policy(change: impl FnOnce(Draft) -> Draft) -> Policy {
    change(Draft::of(Profile::Default)).check().unwrap()
}

#[tokio::test(start_paused = true)]
async fn services_made_before_follow_from_their_next_call_on() {
    let layer = StandardLayer::default();
    let mut client = layer.layer(service_fn(async |_| {
        tokio::time::sleep(Duration::from_secs(5)).await;
        status(200)
    }));
    assert!(
        client
            .ready()
            .await
            .unwrap()
            .call(get("http://a.example/"))
            .await
            .is_ok()
    );
    let once = NonZeroU32::MIN;
    let short = policy(|it| {
        it.with_attempt_timeout(Duration::from_secs(1))
            .with_max_attempts(once)
    });
    // Ready before, so it ends by what held then.
    let under_way = client.ready().await.unwrap().call(get("http://a.example/"));
    layer.handle().reload(short);
    assert!(under_way.await.is_ok());
    let started = tokio::time::Instant::now();
    let error = client
        .ready()
        .await
        .unwrap()
        .call(get("http://a.example/"))
        .await;
    assert!(error.is_err());
    assert_eq!(started.elapsed(), Duration::from_secs(1));
    assert_eq!(
        layer.handle().policy().as_draft().attempt_timeout(),
        Duration::from_secs(1)
    );
}

#[tokio::test(start_paused = true)]
async fn what_an_operator_set_and_what_is_open_stays() {
    let layer = StandardLayer::default();
    let client = layer.layer(scripted(|_, _| status(500)));
    for _ in 0..20 {
        let _ = client.clone().oneshot(get("http://a.example/")).await;
    }
    let handle = layer.handle();
    handle.breaker().hold_open("held.example");
    assert_eq!(handle.breaker().state("a.example"), CircuitState::Open);
    handle.reload(policy(|it| {
        let breaker = it
            .breaker()
            .clone()
            .with_failure_rate(steadfast::Ratio::percent(90).unwrap());
        it.with_breaker(breaker)
    }));
    assert_eq!(handle.breaker().state("a.example"), CircuitState::Open);
    assert_eq!(
        handle.breaker().state("held.example"),
        CircuitState::HeldOpen
    );
    for host in ["a.example", "held.example"] {
        let error = client
            .clone()
            .oneshot(get(&format!("http://{host}/")))
            .await
            .unwrap_err();
        assert_eq!(
            Rejected::find(&*error).unwrap().reason(),
            Reason::CircuitOpen
        );
    }
}

#[tokio::test(start_paused = true)]
async fn calls_in_flight_keep_their_places_under_a_lower_limit() {
    let limited = |limit| {
        policy(|it| {
            let bulkhead = it
                .bulkhead()
                .clone()
                .with_limit(NonZeroU32::new(limit).unwrap());
            it.with_bulkhead(bulkhead)
        })
    };
    let layer = StandardLayer::new(limited(3));
    let client = layer.layer(scripted(|_, _| status(200)));
    let call = || client.clone().oneshot(get("http://a.example/"));
    let (first, second) = (call().await.unwrap(), call().await.unwrap());
    layer.handle().reload(limited(2));
    assert_eq!(layer.handle().bulkhead().in_flight("a.example"), 2);
    let error = call().await.unwrap_err();
    assert_eq!(
        Rejected::find(&*error).unwrap().reason(),
        Reason::BulkheadFull
    );
    drop(first);
    let third = call().await.unwrap();
    assert!(call().await.is_err());
    drop((second, third));
    assert_eq!(layer.handle().bulkhead().in_flight("a.example"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_host_that_asked_to_be_left_alone_still_is() {
    let layer = StandardLayer::default();
    layer
        .handle()
        .cooldown()
        .cool("a.example", Duration::from_secs(20));
    let client = layer.layer(scripted(|_, _| status(200)));
    layer
        .handle()
        .reload(policy(|it| it.with_call_limit(Duration::from_secs(20))));
    let error = client.oneshot(get("http://a.example/")).await.unwrap_err();
    assert_eq!(Rejected::find(&*error).unwrap().reason(), Reason::Cooldown);
}

#[tokio::test(start_paused = true)]
async fn a_budget_that_is_said_the_same_is_not_filled_up() {
    let one_a_minute = |policy: Draft| {
        policy.with_budgets(Budgets::PerDestination(BudgetKind::Rate {
            retries: 1,
            interval: Duration::from_secs(60),
            reserve: steadfast::Ratio::ZERO,
        }))
    };
    let layer = StandardLayer::new(policy(one_a_minute));
    let client = layer.layer(scripted(|_, _| status(503)));
    let attempts = async || {
        let answer = client
            .clone()
            .oneshot(get("http://a.example/"))
            .await
            .unwrap();
        answer.extensions().get::<Report>().unwrap().attempts
    };
    assert_eq!(attempts().await, 2);
    assert_eq!(attempts().await, 1);
    let longer = |it| one_a_minute(it).with_call_limit(Duration::from_secs(60));
    layer.handle().reload(policy(longer));
    assert_eq!(attempts().await, 1, "what was spent is spent");
    layer.handle().reload(policy(|it| {
        it.with_budgets(Budgets::PerDestination(BudgetKind::Rate {
            retries: 2,
            interval: Duration::from_secs(60),
            reserve: steadfast::Ratio::ZERO,
        }))
    }));
    assert_eq!(attempts().await, 3, "another budget starts anew");
}

/// Readiness that the old instance had reserved is given back, and the new one is readied.
#[tokio::test(start_paused = true)]
async fn a_reload_between_readiness_and_call_calls_what_was_readied() {
    let ready = Arc::new(AtomicU32::new(0));
    let calls = Arc::new(Mutex::new(Vec::new()));
    let layer = StandardLayer::default();
    let (seen, log) = (ready.clone(), calls.clone());
    let inner = scripted(move |nth, _| {
        log.lock()
            .unwrap()
            .push((nth, seen.load(Ordering::Relaxed)));
        status(200)
    });
    let counted = ready.clone();
    let mut client = layer.layer(tower::util::MapRequest::new(inner, move |request| {
        counted.fetch_add(1, Ordering::Relaxed);
        request
    }));
    for limit in 10..20 {
        client.ready().await.unwrap();
        layer
            .handle()
            .reload(policy(|it| it.with_call_limit(Duration::from_secs(limit))));
        client.call(get("http://a.example/")).await.unwrap();
    }
    assert_eq!(calls.lock().unwrap().len(), 10);
}
