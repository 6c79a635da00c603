//! A call's attempts and its budget, divided between hops.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::{HeaderMap, Request};
use steadfast_core::budget::{Budget, RatioBudget};
use steadfast_core::{
    Allowance, Attempt, CallContext, Delivery, Event, Owner, OwnerMark, Ratio, Reason, Safety,
    Verdict, in_context,
};
use steadfast_kit::{Chunks, Probe};
use steadfast_retry::{ReplayBody, RetryConfig, RetryLayer, UpstreamOwner, operation};
use tower::{Layer, ServiceExt};

use crate::stack::*;

fn leave(n: u32, percent: u32) -> Allowance {
    Allowance::new(attempts(n), Ratio::percent(percent).unwrap())
}

/// Tells the next hop, and takes part of what it is left.
fn splitting(max: u32) -> RetryConfig {
    config()
        .with_max_attempts(attempts(max))
        .with_owner_mark(OwnerMark::default())
        .with_upstream_owner(UpstreamOwner::Split)
}

fn mark(headers: &HeaderMap) -> Option<String> {
    Some(headers.get("steadfast-attempt")?.to_str().unwrap().into())
}

/// The marks of one call that always fails, made for a request with that mark; and why it ended.
async fn marks(config: RetryConfig, upstream: Option<&str>) -> (Vec<String>, Option<Reason>) {
    let (retry, probe) = stack(config, (0..99).map(|_| reset()).collect());
    let answered = in_context(context(upstream), run(&retry, get())).await;
    let heads = probe.heads();
    let marks = heads
        .iter()
        .map(|head| mark(&head.headers).unwrap_or_default());
    (marks.collect(), reason(&answered))
}

/// The context of a request that came with that mark from one who is believed.
fn context(upstream: Option<&str>) -> CallContext {
    let mut headers = HeaderMap::new();
    if let Some(upstream) = upstream {
        headers.insert("steadfast-attempt", upstream.parse().unwrap());
    }
    match OwnerMark::default().read(&headers) {
        Some(owner) => CallContext::new().with_owner(owner),
        None => CallContext::new(),
    }
}

#[tokio::test(start_paused = true)]
async fn an_owner_makes_fewer_attempts_and_tells_the_next_hop_of_the_others() {
    let config = splitting(4).with_next_hop(leave(2, 50));
    assert_eq!(config.next_hop(), Some(leave(2, 50)));
    let (marks, reason) = marks(config, None).await;
    assert_eq!(marks, ["1/4;left=2;share=50", "3/4;left=2;share=50"]);
    assert_eq!(reason, Some(Reason::AttemptsExhausted));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_left_to_a_hop_that_is_not_told() {
    let config = config().with_next_hop(leave(2, 50));
    assert_eq!(marks(config, None).await.0.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_hop_that_splits_makes_what_it_is_left_and_tells_that_nothing_remains() {
    for (own, upstream, sent) in [
        (3, "1/4;left=2;share=50", &["1/4", "2/4"][..]),
        (3, "3/4;left=2;share=50", &["3/4", "4/4"]),
        (2, "1/9;left=4;share=50", &["1/9", "2/9"]),
        // However much it is told: its own attempts are the most.
        (
            2,
            "1/4294967295;left=4294967295;share=100",
            &["1/4294967295", "2/4294967295"],
        ),
    ] {
        let (marks, reason) = marks(splitting(own), Some(upstream)).await;
        assert_eq!(marks, sent, "{upstream}");
        assert_eq!(reason, Some(Reason::AttemptsExhausted), "{upstream}");
    }
}

#[tokio::test(start_paused = true)]
async fn where_nothing_is_left_a_call_passes_through() {
    let passed = Arc::new(Mutex::new(0));
    for upstream in [
        "2/3",
        "2/3;left=2",
        "3/3;left=2;share=50",
        "1/3;left=2;share=0",
    ] {
        let seen = passed.clone();
        let config = splitting(3).with_observer(move |event: &Event<'_>| {
            *seen.lock().unwrap() += u32::from(matches!(event, Event::PassedThrough(_)));
        });
        let (marks, reason) = marks(config, Some(upstream)).await;
        let (place, _) = upstream.split_once(';').unwrap_or((upstream, ""));
        assert_eq!(marks, [place], "{upstream}");
        assert_eq!(reason, Some(Reason::OwnedUpstream), "{upstream}");
    }
    assert_eq!(*passed.lock().unwrap(), 4);
}

/// It uses none of it, so the next one may.
#[tokio::test(start_paused = true)]
async fn a_hop_that_passes_calls_through_hands_on_the_whole() {
    let upstream = "1/4;left=2;share=50";
    let passing = splitting(3).with_upstream_owner(UpstreamOwner::PassThrough);
    let (told, reason) = marks(passing, Some(upstream)).await;
    assert_eq!(
        (told, reason),
        (vec![upstream.to_owned()], Some(Reason::OwnedUpstream))
    );
    let once = marks(splitting(1), Some(upstream)).await.0;
    assert_eq!(once, [upstream], "one that has a single attempt of its own");
    let (retry, probe) = stack(splitting(3).with_replay_limit(0), vec![status(503, "busy")]);
    let request = post(Chunks::of(["body"]).with_exact_size());
    in_context(context(Some(upstream)), run(&retry, request))
        .await
        .unwrap();
    assert_eq!(
        mark(&probe.heads()[0].headers).unwrap(),
        upstream,
        "or cannot repeat this call"
    );
}

#[tokio::test(start_paused = true)]
async fn a_hop_that_ignores_its_callers_loop_divides_its_own_attempts() {
    let ignoring = splitting(4)
        .with_next_hop(leave(2, 50))
        .with_upstream_owner(UpstreamOwner::Ignore);
    let marks = marks(ignoring, Some("2/9;left=2;share=10")).await.0;
    assert_eq!(marks, ["1/4;left=2;share=50", "3/4;left=2;share=50"]);
}

/// Eight at the top; four of each are left, and two of those.
#[tokio::test(start_paused = true)]
async fn three_hops_that_split_send_no_more_than_the_first_may() {
    let hops = [
        splitting(8).with_next_hop(leave(4, 60)),
        splitting(5).with_next_hop(leave(2, 50)),
        splitting(9),
    ];
    let mut arriving = vec![None];
    for config in hops {
        let mut sent = Vec::new();
        for upstream in arriving {
            let (marks, _) = marks(config.clone(), upstream.as_deref()).await;
            sent.extend(marks.into_iter().map(Some));
        }
        arriving = sent;
    }
    let places: Vec<_> = (1..=8).map(|n| Some(format!("{n}/8"))).collect();
    assert_eq!(arriving, places);
}

#[tokio::test(start_paused = true)]
async fn a_mark_on_a_request_says_nothing_to_the_layer_that_sends_it() {
    let (retry, probe) = stack(splitting(3), (0..3).map(|_| reset()).collect());
    let mut request = get();
    let forged = "1/9;left=9;share=100".parse().unwrap();
    request.headers_mut().insert("steadfast-attempt", forged);
    run(&retry, request).await.unwrap_err();
    let marks: Vec<_> = probe
        .heads()
        .iter()
        .map(|head| mark(&head.headers))
        .collect();
    assert_eq!(
        marks,
        ["1/3", "2/3", "3/3"].map(|mark| Some(mark.to_owned()))
    );
}

type Twice = Request<ReplayBody<ReplayBody<Chunks>>>;

#[tokio::test(start_paused = true)]
async fn within_one_process_only_the_outer_layer_takes_its_part() {
    for upstream in [None, Some("1/9;left=4;share=50")] {
        let fail = || steadfast_kit::Step::fail(std::io::Error::other("down"));
        let probe = Probe::<Twice, http::Response<Chunks>>::script(
            (0..99).map(|_| fail()).collect::<Vec<_>>(),
        );
        let inner = RetryLayer::new(splitting(4));
        let outer = RetryLayer::new(splitting(4).with_next_hop(leave(2, 50)));
        let stack = outer.layer(inner.layer(probe.clone()));
        let sent = in_context(context(upstream), stack.oneshot(get())).await;
        sent.unwrap_err();
        let marks: Vec<_> = probe
            .heads()
            .iter()
            .map(|head| mark(&head.headers).unwrap())
            .collect();
        let expected = match upstream {
            None => ["1/4;left=2;share=50", "3/4;left=2;share=50"],
            Some(_) => ["1/9;left=2;share=25", "3/9;left=2;share=25"],
        };
        assert_eq!(marks, expected);
    }
}

/// It has no header of its own to say so, whatever is handed on by hand.
#[tokio::test(start_paused = true)]
async fn an_operation_takes_its_part_and_leaves_nothing() {
    let upstream = "3/9;left=2;share=50";
    for forwarded in [false, true] {
        let (retry, probe) = stack(splitting(3), (0..99).map(|_| reset()).collect());
        let judge = |_: &Answered| Verdict::Transient(Delivery::Unknown);
        let attempt = async |_| {
            let mut request = get();
            if forwarded {
                let mark = upstream.parse().unwrap();
                request.headers_mut().insert("steadfast-attempt", mark);
            }
            run(&retry, request).await
        };
        let served = async { operation(splitting(5), Safety::Safe, judge, attempt).await };
        let failure = in_context(context(Some(upstream)), served)
            .await
            .unwrap_err();
        assert_eq!(failure.report().attempts, 2);
        let marks: Vec<_> = probe
            .heads()
            .iter()
            .map(|head| mark(&head.headers))
            .collect();
        assert_eq!(marks, vec![Some("3/9".to_owned()); 2], "{forwarded}");
    }
}

/// Attempts of so many calls that all fail, each made for a request with that mark.
async fn sent(config: RetryConfig, calls: usize, upstream: Option<&str>) -> usize {
    let (retry, probe) = stack(config, (0..9_999).map(|_| reset()).collect());
    for _ in 0..calls {
        in_context(context(upstream), run(&retry, get()))
            .await
            .unwrap_err();
    }
    probe.calls()
}

fn a_tenth() -> impl Budget {
    let longer_than_the_run = Duration::from_secs(86_400);
    RatioBudget::new(Ratio::percent(10).unwrap()).with_window(longer_than_the_run)
}

#[tokio::test(start_paused = true)]
async fn what_of_the_budget_is_left_is_not_used() {
    let top = || splitting(4).with_budget(a_tenth());
    assert_eq!(sent(top(), 200, None).await, 220);
    assert_eq!(
        sent(top().with_next_hop(leave(2, 50)), 200, None).await,
        210
    );
    assert_eq!(
        sent(top().with_next_hop(leave(2, 80)), 200, None).await,
        204
    );
    assert_eq!(
        sent(top().with_next_hop(leave(2, 100)), 200, None).await,
        200
    );
}

#[tokio::test(start_paused = true)]
async fn a_hop_that_splits_uses_its_share_of_its_own_budget() {
    let hop = || splitting(4).with_budget(a_tenth());
    for (upstream, arrived) in [
        ("1/4;left=2;share=50", 210),
        ("1/4;left=2;share=10", 202),
        ("1/4;left=2;share=100", 220),
        // All of which is still not more than its own.
        ("1/9;left=9;share=100", 220),
        ("1/4;left=2;share=500", 200),
    ] {
        assert_eq!(
            sent(hop(), 200, Some(upstream)).await,
            arrived,
            "{upstream}"
        );
    }
    let further = hop().with_next_hop(leave(2, 50));
    assert_eq!(sent(further, 200, Some("1/8;left=4;share=50")).await, 205);
}

/// Else the retries of a hop before this one would earn retries here.
#[tokio::test(start_paused = true)]
async fn what_arrives_as_a_retry_earns_no_retry() {
    let hop = || splitting(4).with_budget(a_tenth());
    let retries = sent(hop(), 200, Some("3/4;left=2;share=50")).await;
    assert_eq!(retries, 201, "one, as for any quiet client");
    let (retry, _) = stack(hop(), (0..999).map(|_| reset()).collect());
    let owner = |number| Owner::from(Attempt { number, max: 4 }).with_allowance(leave(2, 50));
    let mut arrived = 0;
    for number in [1, 3].repeat(100) {
        let context = CallContext::new().with_owner(owner(number));
        let failed = in_context(context, run(&retry, get())).await;
        arrived += report(&failed).attempts;
    }
    assert_eq!(arrived, 205, "five for the hundred that are calls");
}

#[test]
fn the_smallest_part_is_two_attempts() {
    assert_eq!(leave(1, 50).attempts(), NonZeroU32::MIN);
    let owner = Owner::from(Attempt { number: 1, max: 4 });
    assert_eq!(owner.with_allowance(leave(1, 50)).allowance(), None);
    assert!(owner.with_allowance(leave(2, 1)).allowance().is_some());
}
