//! The inbound deadline around each other layer of a server, and inside it.

use std::time::Duration;

use http::{Extensions, HeaderMap};
use steadfast::deadline::server::{InboundConfig, InboundDeadlineLayer, InboundTrust};
use tokio::time::Instant;
use tower::limit::GlobalConcurrencyLimitLayer;

use super::*;

#[tokio::test(start_paused = true)]
async fn a_deadline_inside_arrivals_lets_expired_requests_count_as_retries() {
    let (app, _) = app(Duration::ZERO);
    let outside = around!(deadline(), arrivals(); app.clone());
    for _ in 0..9 {
        assert_eq!(ask(&outside, again(waiting(0))).await.status(), 504);
    }
    assert_eq!(ask(&outside, again(get())).await.status(), 200);

    let inside = around!(arrivals(), deadline(); app);
    assert_eq!(ask(&inside, again(waiting(0))).await.status(), 504);
    assert!(is_sent_away(&ask(&inside, again(get())).await));
}

#[tokio::test]
async fn a_deadline_inside_idempotency_rolls_back_what_outside_it_would_be_finished() {
    let late = || with(TIME, "60", charge("k-1"));
    let ledger = Ledger::whose_charges_wait().await;
    let outside = Ledger::known(around!(deadline(), ledger.layer(); ledger.app()));
    assert_eq!(ask(&outside, late()).await.status(), 504);
    ledger.may_answer.add_permits(1);
    ledger.drain().await;
    assert_eq!(ledger.charges().await, 1);
    let repeat = ask(&outside, charge("k-1")).await;
    assert_eq!((repeat.status().as_u16(), is_replay(&repeat)), (201, true));

    let ledger = Ledger::whose_charges_wait().await;
    let inside = Ledger::known(around!(ledger.layer(), deadline(); ledger.app()));
    assert_eq!(ask(&inside, late()).await.status(), 504);
    ledger.may_answer.add_permits(1);
    ledger.drain().await;
    assert_eq!(ledger.charges().await, 0);
    let repeat = ask(&inside, charge("k-1")).await;
    assert_eq!((repeat.status().as_u16(), is_replay(&repeat)), (201, false));
    assert_eq!((ledger.charges().await, ledger.runs.get()), (1, 2));
}

#[tokio::test(start_paused = true)]
async fn a_deadline_outside_authentication_does_not_know_whom_it_may_believe() {
    let believes_accounts = || {
        let trust = |_: &HeaderMap, extensions: &Extensions| match extensions.get::<Account>() {
            Some(_) => InboundTrust::Deadline,
            None => InboundTrust::Nothing,
        };
        InboundDeadlineLayer::new(InboundConfig::new().with_trust_for(trust))
    };
    let ours = || with("account", "a", waiting(0));
    let (app, _) = app(Duration::ZERO);
    let asked = Count::default();
    let outside = around!(believes_accounts(), authentication!(asked); app.clone());
    assert_eq!(ask(&outside, ours()).await.status(), 200);
    let inside = around!(authentication!(asked), believes_accounts(); app.clone());
    assert_eq!(ask(&inside, ours()).await.status(), 504);

    // Where everybody is believed, nobody is looked up for a caller who has gone.
    let asked = Count::default();
    let outside = around!(deadline(), authentication!(asked); app.clone());
    assert_eq!(ask(&outside, ours()).await.status(), 504);
    assert_eq!(asked.get(), 0);
    let inside = around!(authentication!(asked), deadline(); app);
    assert_eq!(ask(&inside, ours()).await.status(), 504);
    assert_eq!(asked.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_trace_inside_the_deadline_does_not_see_what_was_refused() {
    let (app, _) = app(Duration::ZERO);
    for (traced, seen) in [(true, 2), (false, 1)] {
        let saw = Count::default();
        let stack = match traced {
            true => around!(trace!(saw), deadline(); app.clone()),
            false => around!(deadline(), trace!(saw); app.clone()),
        };
        assert_eq!(ask(&stack, waiting(0)).await.status(), 504);
        assert_eq!(ask(&stack, get()).await.status(), 200);
        assert_eq!(saw.get(), seen);
    }
}

#[tokio::test(start_paused = true)]
async fn a_deadline_and_compression_do_not_meet() {
    for outside in [true, false] {
        let (app, _) = app(SECOND);
        let stack = match outside {
            true => around!(deadline(), compression(); app),
            false => around!(compression(), deadline(); app),
        };
        let gzip = |request| with("accept-encoding", "gzip", request);
        assert_eq!(ask(&stack, gzip(waiting(500))).await.status(), 504);
        let answer = ask(&stack, gzip(waiting(5_000))).await;
        assert_eq!(answer.status(), 200);
        assert!(is_compressed(&answer));
    }
}

#[tokio::test(start_paused = true)]
async fn of_a_deadline_and_a_timeout_the_shorter_ends_the_request_in_either_order() {
    for outside in [true, false] {
        let (app, _) = app(60 * SECOND);
        let stack = match outside {
            true => around!(deadline(), timeout(5 * SECOND); app),
            false => around!(timeout(5 * SECOND), deadline(); app),
        };
        for (millis, status, took) in [(1_000, 504, 990), (9_000, 408, 5_000)] {
            let start = Instant::now();
            assert_eq!(ask(&stack, waiting(millis)).await.status(), status);
            assert_eq!(start.elapsed(), Duration::from_millis(took));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_deadline_inside_a_concurrency_limit_begins_after_the_queue() {
    let one = || GlobalConcurrencyLimitLayer::new(1);
    for (outside, status, took, ran) in [(true, 504, 990, 1), (false, 200, 4_000, 2)] {
        let (app, runs) = app(2 * SECOND);
        let stack = match outside {
            true => around!(deadline(), one(); app),
            false => around!(one(), deadline(); app),
        };
        let start = Instant::now();
        let first = stack.clone();
        let first = tokio::spawn(async move { ask(&first, get()).await.status() });
        tokio::task::yield_now().await;
        // Its caller leaves before its turn has come, or before its answer is there.
        let waits = if outside { 1_000 } else { 3_000 };
        assert_eq!(ask(&stack, waiting(waits)).await.status(), status);
        assert_eq!(start.elapsed(), Duration::from_millis(took));
        assert_eq!(first.await.unwrap(), 200);
        assert_eq!(runs.get(), ran);
    }
}
