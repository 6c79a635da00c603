//! Idempotency around each other layer of a server, and inside it, on a real database. With the
//! deadline and with arrivals: there.

use std::time::Duration;

use tokio::time::timeout as within;
use tower::limit::GlobalConcurrencyLimitLayer;

use super::*;

/// So long is waited for what must not come.
const A_WHILE: Duration = Duration::from_millis(60);

#[tokio::test]
async fn idempotency_outside_authentication_knows_no_caller_and_serves_nobody() {
    let ledger = Ledger::open().await;
    let asked = Count::default();
    let ours = || with("account", "a", charge("k-1"));
    let inside = around!(authentication!(asked), ledger.layer(); ledger.app());
    assert_eq!(ask(&inside, ours()).await.status(), 201);
    assert!(is_replay(&ask(&inside, ours()).await));
    let outside = around!(ledger.layer(), authentication!(asked); ledger.app());
    assert_eq!(ask(&outside, ours()).await.status(), 403);
    assert_eq!(ledger.charges().await, 1);
}

#[tokio::test]
async fn a_trace_inside_idempotency_sees_no_replays() {
    for (traced, seen) in [(true, 2), (false, 1)] {
        let (ledger, saw) = (Ledger::open().await, Count::default());
        let stack = Ledger::known(match traced {
            true => around!(trace!(saw), ledger.layer(); ledger.app()),
            false => around!(ledger.layer(), trace!(saw); ledger.app()),
        });
        assert_eq!(ask(&stack, charge("k-1")).await.status(), 201);
        assert!(is_replay(&ask(&stack, charge("k-1")).await));
        assert_eq!(saw.get(), seen);
    }
}

#[tokio::test]
async fn compression_inside_idempotency_replays_gzip_to_callers_who_cannot_read_it() {
    for outside in [true, false] {
        let ledger = Ledger::open().await;
        let stack = Ledger::known(match outside {
            true => around!(ledger.layer(), compression(); ledger.app()),
            false => around!(compression(), ledger.layer(); ledger.app()),
        });
        let gzip = with("accept-encoding", "gzip", charge("k-1"));
        assert!(is_compressed(&ask(&stack, gzip).await));
        let replay = ask(&stack, charge("k-1")).await;
        assert!(is_replay(&replay));
        assert_eq!(is_compressed(&replay), outside);
        assert_eq!(replay.body().starts_with(b"charged"), !outside);
    }
}

#[tokio::test]
async fn a_timeout_inside_idempotency_rolls_back_what_outside_it_would_be_finished() {
    let ledger = Ledger::whose_charges_wait().await;
    let inside = Ledger::known(around!(timeout(A_WHILE), ledger.layer(); ledger.app()));
    assert_eq!(ask(&inside, charge("k-1")).await.status(), 408);
    ledger.may_answer.add_permits(1);
    ledger.drain().await;
    assert!(is_replay(&ask(&inside, charge("k-1")).await));
    assert_eq!((ledger.charges().await, ledger.runs.get()), (1, 1));

    let ledger = Ledger::whose_charges_wait().await;
    let outside = Ledger::known(around!(ledger.layer(), timeout(A_WHILE); ledger.app()));
    assert_eq!(ask(&outside, charge("k-1")).await.status(), 408);
    assert_eq!(ledger.charges().await, 0);
    ledger.may_answer.add_permits(1);
    assert_eq!(ask(&outside, charge("k-1")).await.status(), 201);
    assert_eq!((ledger.charges().await, ledger.runs.get()), (1, 2));
}

#[tokio::test]
async fn idempotency_inside_a_concurrency_limit_lets_a_replay_queue() {
    let one = || GlobalConcurrencyLimitLayer::new(1);
    for outside in [true, false] {
        let ledger = Ledger::whose_charges_wait().await;
        let stack = Ledger::known(match outside {
            true => around!(ledger.layer(), one(); ledger.app()),
            false => around!(one(), ledger.layer(); ledger.app()),
        });
        ledger.may_answer.add_permits(1);
        assert_eq!(ask(&stack, charge("k-1")).await.status(), 201);
        let other = stack.clone();
        let other = tokio::spawn(async move { ask(&other, charge("k-2")).await.status() });
        ledger.has_charged(2).await;
        let replay = ask(&stack, charge("k-1"));
        match outside {
            true => assert!(is_replay(&replay.await)),
            false => assert!(within(A_WHILE, replay).await.is_err()),
        }
        ledger.may_answer.add_permits(1);
        assert_eq!(other.await.unwrap(), 201);
    }
}
