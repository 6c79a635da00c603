use std::time::Duration;

use steadfast_core::budget::{Ask, Budget, RatioBudget};
use steadfast_core::{Outcome, Ratio, Reason};
use steadfast_kit::{Chunks, Readiness, drop_at_every_await};
use tower::{Layer, ServiceExt};

use crate::stack::*;
use steadfast_retry::RetryLayer;

/// Four attempts with answers to read, waits and readiness in between: dropped at each of them.
#[tokio::test(start_paused = true)]
async fn a_drop_at_any_await_settles_everything_exactly_once() {
    let make = || {
        let budget = RatioBudget::new(Ratio::ONE).with_minimum_per_second(Ratio::ONE);
        let later = Duration::from_millis(3);
        let script = vec![
            status(503, "A").after(later),
            reset().after(later),
            answer(429, &[("retry-after", "1")], Chunks::of(["B", "C"])).after(later),
            status(200, "done").after(later),
        ];
        let probe = Inner::script(script);
        let _ = probe
            .clone()
            .with_readiness((0..4).map(|_| Readiness::Later));
        let config = config()
            .with_budget(budget.clone())
            .with_max_attempts(attempts(4));
        let body = Chunks::of(["body"]);
        let watch = body.watch();
        let mut request = post(body);
        *request.method_mut() = http::Method::PUT;
        let call = RetryLayer::new(config)
            .layer(probe.clone())
            .oneshot(request);
        (call, (probe, budget, watch))
    };
    let driven = drop_at_every_await(make, |(probe, budget, watch), polls| {
        assert_eq!(probe.in_flight(), 0, "after {polls} polls");
        assert_eq!(probe.reserved(), 0, "after {polls} polls");
        assert_eq!(watch.dropped(), 1, "after {polls} polls");
        // Ten a window from the floor: what was not sent is there again.
        let now = tokio::time::Instant::now().into_std();
        let left = std::iter::from_fn(|| {
            budget
                .reserve(Ask::new(now))
                .map(|mut permit| permit.sent())
        });
        let sent = probe.calls().saturating_sub(1);
        assert_eq!(
            left.count() + sent,
            10,
            "after {polls} polls and {} calls",
            probe.calls()
        );
    })
    .await;
    assert_eq!(text(driven.output.unwrap()).await, "done");
    assert!(
        driven.polls >= 12,
        "{} awaits were not all of them",
        driven.polls
    );
}

/// O-08: the caller leaves during the wait.
#[tokio::test(start_paused = true)]
async fn a_call_dropped_in_its_wait_sends_nothing_more_and_is_seen_as_cancelled() {
    let events = Events::default();
    let told = answer(429, &[("retry-after", "3")], Chunks::of(["later"]));
    let (retry, probe) = stack(events.observe(config()), vec![told]);
    let patience = Duration::from_millis(100);
    assert!(
        tokio::time::timeout(patience, run(&retry, get()))
            .await
            .is_err()
    );
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(probe.calls(), 1);
    assert_eq!(
        events.ends(),
        [(Some(Reason::Cancelled), Outcome::NotApplied)]
    );
}

#[tokio::test(start_paused = true)]
async fn futures_are_send_and_services_cheap_to_clone() {
    fn assert_send<T: Send>(_: &T) {}
    fn assert_sync<T: Send + Sync + Clone>(_: &T) {}
    let (retry, _) = stack(config(), vec![status(200, "")]);
    assert_sync(&retry);
    let call = run(&retry, get());
    assert_send(&call);
    call.await.unwrap();
}
