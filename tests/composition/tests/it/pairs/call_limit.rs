//! A call limit around each other layer, and inside it.

use std::time::Duration;

use http::header;
use steadfast::budget::Ending;
use steadfast::{CircuitState, Cut, Reason};
use tokio::time::Instant;

use super::asked::*;
use super::layers::*;
use super::peer::{Does, Peer};
use super::till::Till;

#[tokio::test(start_paused = true)]
async fn a_keyed_call_ends_in_time_in_either_order() {
    in_both_orders! {
        let peer = Peer::new([Does::Hangs]);
        let start = Instant::now();
        stack!(call_limit(SECOND), key(); peer) => |stack| {
            assert_eq!(cut(&stack.ask(post()).await), Some(Cut::Deadline));
            assert_eq!(start.elapsed(), SECOND);
            assert!(peer.told(KEY)[0].len() > 30);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_limit_inside_retry_gives_each_attempt_the_whole_time_again() {
    let hangs_twice = || Peer::new([Does::Hangs, Does::Hangs, Does::Says(200)]);
    let (start, peer) = (Instant::now(), hangs_twice());
    let outside = stack!(call_limit(3 * SECOND), retry(); peer);
    assert_eq!(cut(&outside.ask(get()).await), Some(Cut::Deadline));
    assert_eq!((start.elapsed(), peer.calls()), (3 * SECOND, 1));

    let (start, peer) = (Instant::now(), hangs_twice());
    let inside = stack!(retry(), call_limit(3 * SECOND); peer);
    assert_eq!(status(inside.ask(get()).await), 200);
    assert_eq!((start.elapsed(), peer.calls()), (8 * SECOND, 3));
}

#[tokio::test(start_paused = true)]
async fn a_call_limit_inside_the_budget_shows_it_a_failure_where_outside_the_call_was_dropped() {
    let peer = Peer::new([Does::Hangs]);
    let till = Till::open();
    let outside = stack!(call_limit(SECOND), budget(&till); peer);
    outside.ask(get()).await.unwrap_err();
    assert_eq!(till.told(), [Ending::Neither]);

    let till = Till::open();
    let inside = stack!(budget(&till), call_limit(SECOND); peer);
    inside.ask(get()).await.unwrap_err();
    assert_eq!(till.told(), [Ending::Failure]);
}

#[tokio::test(start_paused = true)]
async fn a_pause_longer_than_the_call_refuses_at_once_in_either_order() {
    in_both_orders! {
        let peer = Peer::new([Does::Tells(503, "retry-after", "9")]);
        let start = Instant::now();
        stack!(call_limit(SECOND), cooldown(); peer) => |stack| {
            assert_eq!(status(stack.ask(get()).await), 503);
            assert_eq!(reason(&stack.ask(get()).await), Some(Reason::Cooldown));
            assert_eq!(start.elapsed(), Duration::ZERO);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_limit_inside_the_bulkhead_does_not_count_the_time_in_its_queue() {
    let slow = || Peer::new([Does::Late(2 * SECOND)]);
    let (start, peer) = (Instant::now(), slow());
    let outside = stack!(call_limit(3 * SECOND), queue(10 * SECOND); peer);
    let _first = outside.begin(get()).await;
    assert_eq!(cut(&outside.ask(get()).await), Some(Cut::Deadline));
    assert_eq!(start.elapsed(), 3 * SECOND);

    let (start, peer) = (Instant::now(), slow());
    let inside = stack!(queue(10 * SECOND), call_limit(3 * SECOND); peer);
    let _first = inside.begin(get()).await;
    assert_eq!(status(inside.ask(get()).await), 200);
    assert_eq!(start.elapsed(), 4 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_ran_out_of_its_own_time_opens_no_circuit_in_either_order() {
    in_both_orders! {
        let circuit = breaker();
        let peer = Peer::new([Does::Hangs]);
        stack!(call_limit(SECOND), circuit.clone(); peer) => |stack| {
            for _ in 0..9 {
                assert_eq!(cut(&stack.ask(get()).await), Some(Cut::Deadline));
            }
            assert_eq!(state(&circuit), CircuitState::Closed);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_hint_is_read_within_the_limit_in_either_order() {
    in_both_orders! {
        let peer = Peer::new([Does::Tells(503, "retry-after", "9"), Does::Hangs]);
        stack!(call_limit(SECOND), hint_layer(); peer) => |stack| {
            assert_eq!(hint(&stack.ask(get()).await), Some(9 * SECOND));
            assert_eq!(cut(&stack.ask(get()).await), Some(Cut::Deadline));
        }
    }
}

/// Alone the two are the shorter of two times. Who stands outside decides what the peer is told.
#[tokio::test(start_paused = true)]
async fn an_attempt_timeout_outside_the_call_limit_is_not_told_to_the_peer() {
    for (outside, told) in [(true, "1000"), (false, "5000")] {
        let (start, peer) = (Instant::now(), Peer::new([Does::Hangs]));
        let (call, attempt) = (call_limit(5 * SECOND), attempt_timeout(SECOND));
        let ended = match outside {
            true => stack!(call, attempt, propagate(); peer).ask(get()).await,
            false => stack!(attempt, call, propagate(); peer).ask(get()).await,
        };
        assert_eq!(cut(&ended), Some(Cut::AttemptTimeout));
        assert_eq!(start.elapsed(), SECOND);
        assert_eq!(peer.told(TIME), [told]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_limit_inside_the_body_timeout_does_not_end_a_grpc_stream() {
    let stream = || {
        let mut request = post();
        let kind = "application/grpc".parse().unwrap();
        request.headers_mut().insert(header::CONTENT_TYPE, kind);
        request
    };
    let (start, peer) = (Instant::now(), Peer::new([Does::FallsSilent]));
    let outside = stack!(call_limit(5 * SECOND), body_timeout(20 * SECOND); peer);
    assert_eq!(cut(&outside.ask(stream()).await), Some(Cut::Deadline));
    assert_eq!(start.elapsed(), 5 * SECOND);

    let start = Instant::now();
    let inside = stack!(body_timeout(20 * SECOND), call_limit(5 * SECOND); peer);
    assert_eq!(cut(&inside.ask(stream()).await), Some(Cut::BodyIdle));
    assert_eq!(start.elapsed(), 20 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_call_limit_inside_propagation_is_not_told_to_the_peer() {
    let peer = Peer::new([Does::Says(200)]);
    let outside = stack!(call_limit(5 * SECOND), propagate(); peer);
    assert_eq!(status(outside.ask(get()).await), 200);
    let inside = stack!(propagate(), call_limit(5 * SECOND); peer);
    assert_eq!(status(inside.ask(get()).await), 200);
    assert_eq!(peer.told(TIME), ["5000", ""]);
}
