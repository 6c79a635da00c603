//! Retry around each layer of one attempt, and inside it. With the bulkhead: `admission`; with the
//! breaker: `breaker`.

use std::time::Duration;

use steadfast::retry::{BudgetLayer, Commit, CountAttemptsLayer, RetryLayer};
use steadfast::{Backoff, Cut, Jitter, Reason};
use tokio::time::{Instant, sleep};

use super::asked::*;
use super::layers::*;
use super::peer::{Does, Peer};
use super::till::Till;

#[tokio::test(start_paused = true)]
async fn a_budget_layer_outside_retry_caps_nothing() {
    let (count, empty) = (CountAttemptsLayer::new, Till::empty());
    let peer = Peer::new([Does::Says(503)]);
    let capped = || BudgetLayer::new(empty.clone());
    let inside = stack!(count(), retry(), capped(); peer);
    let ended = inside.ask(get()).await;
    assert_eq!(reason(&ended), Some(Reason::BudgetExhausted));
    assert_eq!((status(ended), peer.calls()), (503, 1));

    let peer = Peer::new([Does::Says(503)]);
    let outside = stack!(count(), capped(), retry(); peer);
    let ended = outside.ask(get()).await;
    assert_eq!(reason(&ended), Some(Reason::AttemptsExhausted));
    assert_eq!((status(ended), peer.calls()), (503, 3));
}

#[tokio::test(start_paused = true)]
async fn a_cooldown_outside_retry_hears_of_a_pause_when_the_call_has_ended() {
    let told_once = || Peer::new([Does::Tells(503, "retry-after", "4"), Does::Says(200)]);
    let peer = told_once();
    let inside = stack!(retry(), cooldown(); peer);
    let first = inside.begin(get()).await;
    assert_eq!(reason(&inside.ask(get()).await), Some(Reason::Cooldown));
    assert_eq!(status(first.await.unwrap()), 200);

    let peer = told_once();
    let outside = stack!(cooldown(), retry(); peer);
    let first = outside.begin(get()).await;
    sleep(SECOND).await;
    assert_eq!(status(outside.ask(get()).await), 200);
    assert_eq!(peer.calls(), 2, "into the pause");
    assert_eq!(status(first.await.unwrap()), 200);
}

#[tokio::test(start_paused = true)]
async fn a_hint_layer_inside_retry_tells_it_what_only_that_layer_can_read() {
    let says = || Peer::new([Does::Tells(503, TAUGHT, "7"), Does::Says(200)]);
    let (start, peer) = (Instant::now(), says());
    let inside = stack!(retry(), taught(); peer);
    assert_eq!(status(inside.ask(get()).await), 200);
    assert_eq!(start.elapsed(), 8 * SECOND, "the hint and the own wait");

    let (start, peer) = (Instant::now(), says());
    let outside = stack!(taught(), retry(); peer);
    assert_eq!(status(outside.ask(get()).await), 200);
    assert_eq!(start.elapsed(), SECOND);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_timeout_outside_retry_leaves_a_slow_first_attempt_no_second() {
    let hangs_once = || Peer::new([Does::Hangs, Does::Says(200)]);
    let (start, peer) = (Instant::now(), hangs_once());
    let inside = stack!(retry(), attempt_timeout(2 * SECOND); peer);
    assert_eq!(status(inside.ask(get()).await), 200);
    assert_eq!((start.elapsed(), peer.calls()), (3 * SECOND, 2));

    let (start, peer) = (Instant::now(), hangs_once());
    let outside = stack!(attempt_timeout(2 * SECOND), retry(); peer);
    assert_eq!(cut(&outside.ask(get()).await), Some(Cut::AttemptTimeout));
    assert_eq!((start.elapsed(), peer.calls()), (2 * SECOND, 1));
}

/// Where answers are read whole before they are handed on.
#[tokio::test(start_paused = true)]
async fn a_body_timeout_outside_retry_leaves_retry_waiting_for_a_silent_body() {
    let whole = || RetryLayer::new(retry_config().with_commit(Commit::WholeBody { limit: 64 }));
    let silent_once = || Peer::new([Does::FallsSilent, Does::Says(200)]);
    let (start, peer) = (Instant::now(), silent_once());
    let inside = stack!(whole(), body_timeout(2 * SECOND); peer);
    assert_eq!(status(inside.ask(get()).await), 200);
    assert_eq!((start.elapsed(), peer.calls()), (3 * SECOND, 2));

    let (start, peer) = (Instant::now(), silent_once());
    let outside = stack!(body_timeout(2 * SECOND), whole(); peer);
    let ended = outside.ask(get()).await;
    assert_eq!(reason(&ended), Some(Reason::Deadline));
    assert_eq!((start.elapsed(), peer.calls()), (30 * SECOND, 1));
}

#[tokio::test(start_paused = true)]
async fn propagation_outside_retry_tells_every_attempt_the_time_of_the_first() {
    let fails_once = || Peer::new([Does::Says(503), Does::Says(200)]);
    let peer = fails_once();
    let inside = stack!(retry(), propagate(); peer);
    assert_eq!(status(inside.ask(due(5 * SECOND, get())).await), 200);
    assert_eq!(peer.told(TIME), ["5000", "4000"]);

    let peer = fails_once();
    let outside = stack!(propagate(), retry(); peer);
    assert_eq!(status(outside.ask(due(5 * SECOND, get())).await), 200);
    assert_eq!(peer.told(TIME), ["5000", "5000"]);
}

/// In the order that is right: with one place, the next attempt needs the place of the last.
#[tokio::test(start_paused = true)]
async fn a_failed_answer_gives_its_place_back_before_the_next_attempt_asks_for_one() {
    for wait in [Duration::ZERO, SECOND] {
        for fails in [Does::Says(503), Does::FailsSilently, Does::Breaks] {
            let backoff = Backoff::default().with_base(wait).with_cap(wait);
            let config = retry_config().with_backoff(backoff.with_jitter(Jitter::None));
            let (places, peer) = (bulkhead(), Peer::new([fails, fails, Does::Says(200)]));
            let stack = stack!(RetryLayer::new(config), places.clone(); peer);
            assert_eq!(status(stack.ask(get()).await), 200, "{fails:?} {wait:?}");
            assert_eq!((peer.calls(), in_flight(&places)), (3, 0));
        }
    }
}
