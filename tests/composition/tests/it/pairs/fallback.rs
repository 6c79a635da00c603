//! A fallback around each other layer, and inside it.

use bytes::Bytes;
use http::Response;
use steadfast::admission::FallbackLayer;
use steadfast::admission::fallback::Fell;
use steadfast::{CircuitState, Cut, Reason};

use super::asked::*;
use super::layers::*;
use super::peer::{Does, Peer};
use super::till::Till;

#[tokio::test(start_paused = true)]
async fn a_fallback_outside_the_call_limit_answers_when_the_time_is_over() {
    let peer = Peer::new([Does::Hangs]);
    let outside = stack!(fallback(Reason::Deadline), call_limit(SECOND); peer);
    assert_eq!(status(outside.ask(get()).await), 203);
    let inside = stack!(call_limit(SECOND), fallback(Reason::Deadline); peer);
    assert_eq!(cut(&inside.ask(get()).await), Some(Cut::Deadline));
}

#[tokio::test(start_paused = true)]
async fn a_fallback_outside_the_key_layer_answers_for_a_missing_key() {
    let peer = Peer::new([Does::Says(200)]);
    let outside = stack!(fallback(Reason::KeyRequired), explicit_key(); peer);
    assert_eq!(status(outside.ask(post()).await), 203);
    let inside = stack!(explicit_key(), fallback(Reason::KeyRequired); peer);
    let refused = inside.ask(post()).await;
    assert_eq!(reason(&refused), Some(Reason::KeyRequired));
    assert_eq!(peer.calls(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_fallback_outside_retry_answers_when_the_attempts_are_over() {
    let peer = Peer::new([Does::Breaks]);
    let outside = stack!(fallback(Reason::AttemptsExhausted), retry(); peer);
    assert_eq!(status(outside.ask(get()).await), 203);
    assert_eq!(peer.calls(), 3);
    // Inside it sees one attempt, which nobody has reported on.
    let inside = stack!(retry(), fallback(Reason::AttemptsExhausted); peer);
    let failed = inside.ask(get()).await;
    assert_eq!(reason(&failed), Some(Reason::AttemptsExhausted));
    assert!(failed.is_err());
    assert_eq!(peer.calls(), 6);
}

#[tokio::test(start_paused = true)]
async fn a_fallback_outside_the_budget_answers_for_an_empty_budget() {
    let (peer, till) = (Peer::new([Does::Says(200)]), Till::empty());
    let outside = stack!(fallback(Reason::BudgetExhausted), budget(&till); peer);
    assert_eq!(status(outside.ask(marked(2)).await), 203);
    let inside = stack!(budget(&till), fallback(Reason::BudgetExhausted); peer);
    let refused = inside.ask(marked(2)).await;
    assert_eq!(reason(&refused), Some(Reason::BudgetExhausted));
    assert_eq!(peer.calls(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_fallback_outside_the_cooldown_answers_during_the_pause() {
    let peer = Peer::new([Does::Tells(503, "retry-after", "4")]);
    let outside = stack!(fallback(Reason::Cooldown), cooldown(); peer);
    assert_eq!(status(outside.ask(get()).await), 503);
    assert_eq!(status(outside.ask(get()).await), 203);
    let inside = stack!(cooldown(), fallback(Reason::Cooldown); peer);
    assert_eq!(status(inside.ask(get()).await), 503);
    assert_eq!(reason(&inside.ask(get()).await), Some(Reason::Cooldown));
}

#[tokio::test(start_paused = true)]
async fn a_fallback_outside_the_bulkhead_answers_when_it_is_full() {
    let peer = Peer::new([Does::Hangs]);
    let outside = stack!(fallback(Reason::BulkheadFull), bulkhead(); peer);
    let _holds = outside.begin(get()).await;
    assert_eq!(status(outside.ask(get()).await), 203);
    let inside = stack!(bulkhead(), fallback(Reason::BulkheadFull); peer);
    let _holds = inside.begin(get()).await;
    assert_eq!(reason(&inside.ask(get()).await), Some(Reason::BulkheadFull));
}

#[tokio::test(start_paused = true)]
async fn a_fallback_inside_the_breaker_hides_the_failures_that_would_open_it() {
    let covers = || fallback_for([Reason::Deadline, Reason::CircuitOpen]);
    let (peer, circuit) = (Peer::new([Does::Hangs]), breaker());
    let outside = stack!(covers(), circuit.clone(), attempt_timeout(SECOND); peer);
    for from in [Reason::Deadline, Reason::CircuitOpen] {
        assert_eq!(stood_in_for(&outside.ask(get()).await), Some(from));
    }
    assert_eq!((state(&circuit), peer.calls()), (CircuitState::Open, 1));

    let (peer, circuit) = (Peer::new([Does::Hangs]), breaker());
    let inside = stack!(circuit.clone(), covers(), attempt_timeout(SECOND); peer);
    for _ in 0..9 {
        let ended = inside.ask(get()).await;
        assert_eq!(stood_in_for(&ended), Some(Reason::Deadline));
    }
    assert_eq!((state(&circuit), peer.calls()), (CircuitState::Closed, 9));
}

#[tokio::test(start_paused = true)]
async fn a_hint_layer_outside_a_fallback_reads_the_users_own_answer_too() {
    let says_later = || {
        FallbackLayer::new([Reason::CircuitOpen], |_: &Fell<'_>| {
            let answer = Response::builder().status(503).header("retry-after", "7");
            answer.body(Bytes::new()).unwrap()
        })
    };
    let peer = Peer::new([Does::Refused(Reason::CircuitOpen)]);
    let outside = stack!(says_later(), hint_layer(); peer).ask(get()).await;
    assert_eq!(hint(&outside), None);
    let inside = stack!(hint_layer(), says_later(); peer).ask(get()).await;
    assert_eq!(hint(&inside), Some(7 * SECOND));
    for ended in [outside, inside] {
        assert_eq!(stood_in_for(&ended), Some(Reason::CircuitOpen));
    }
}

#[tokio::test(start_paused = true)]
async fn a_fallback_outside_the_attempt_timeout_answers_for_a_timeout() {
    let peer = Peer::new([Does::Hangs]);
    let outside = stack!(fallback(Reason::Deadline), attempt_timeout(SECOND); peer);
    assert_eq!(status(outside.ask(get()).await), 203);
    let inside = stack!(attempt_timeout(SECOND), fallback(Reason::Deadline); peer);
    assert_eq!(cut(&inside.ask(get()).await), Some(Cut::AttemptTimeout));
}

#[tokio::test(start_paused = true)]
async fn a_body_that_falls_silent_has_no_fallback_in_either_order() {
    in_both_orders! {
        let peer = Peer::new([Does::FallsSilent]);
        stack!(fallback(Reason::Deadline), body_timeout(SECOND); peer) => |stack| {
            assert_eq!(cut(&stack.ask(get()).await), Some(Cut::BodyIdle));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_fallback_outside_propagation_answers_when_no_time_is_left_to_tell() {
    let peer = Peer::new([Does::Says(200)]);
    let late = || due(SECOND / 2_000, get());
    let outside = stack!(fallback(Reason::Deadline), propagate(); peer);
    assert_eq!(status(outside.ask(late()).await), 203);
    let inside = stack!(propagate(), fallback(Reason::Deadline); peer);
    assert_eq!(reason(&inside.ask(late()).await), Some(Reason::Deadline));
    assert_eq!(peer.calls(), 0);
}
