//! A bulkhead around each layer below it, and inside it.

use std::num::NonZeroU32;

use steadfast::admission::BreakerLayer;
use steadfast::admission::breaker::{BreakerConfig, Window};
use steadfast::{CircuitState, Cut, Ratio};
use tokio::time::Instant;

use super::asked::*;
use super::layers::*;
use super::peer::{Does, Peer};

#[tokio::test(start_paused = true)]
async fn a_breaker_outside_the_bulkhead_takes_its_queue_for_a_slow_peer() {
    let slow = || {
        let two = Window::default().with_minimum(NonZeroU32::new(2).unwrap());
        let config = BreakerConfig::default().with_window(two.unwrap());
        let half = Ratio::percent(50).unwrap();
        BreakerLayer::new(config.with_slow_calls(2 * SECOND, half))
    };
    let (peer, circuit) = (Peer::new([Does::Late(SECOND)]), slow());
    let inside = stack!(queue(9 * SECOND), circuit.clone(); peer);
    let (a, b, c) = (inside.ask(get()), inside.ask(get()), inside.ask(get()));
    for ended in <[Ended; 3]>::from(tokio::join!(a, b, c)) {
        assert_eq!(status(ended), 200);
    }
    assert_eq!(state(&circuit), CircuitState::Closed);

    let (peer, circuit) = (Peer::new([Does::Late(SECOND)]), slow());
    let outside = stack!(circuit.clone(), queue(9 * SECOND); peer);
    let (a, b, c) = (outside.ask(get()), outside.ask(get()), outside.ask(get()));
    for ended in <[Ended; 3]>::from(tokio::join!(a, b, c)) {
        assert_eq!(status(ended), 200);
    }
    assert_eq!(state(&circuit), CircuitState::Open);
}

#[tokio::test(start_paused = true)]
async fn a_hint_is_read_in_a_bulkhead_in_either_order() {
    in_both_orders! {
        let places = bulkhead();
        let peer = Peer::new([Does::Tells(503, "retry-after", "9")]);
        stack!(places.clone(), hint_layer(); peer) => |stack| {
            assert_eq!(hint(&stack.ask(get()).await), Some(9 * SECOND));
            assert_eq!(in_flight(&places), 0);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_attempt_timeout_outside_the_bulkhead_counts_the_time_in_its_queue() {
    let slow = || Peer::new([Does::Late(2 * SECOND), Does::Says(200)]);
    let (start, peer) = (Instant::now(), slow());
    let inside = stack!(queue(9 * SECOND), attempt_timeout(3 * SECOND); peer);
    let first = inside.begin(get()).await;
    assert_eq!(status(inside.ask(get()).await), 200);
    assert_eq!(status(first.await.unwrap()), 200);
    assert_eq!(start.elapsed(), 2 * SECOND);

    let (start, peer) = (Instant::now(), slow());
    let places = queue(9 * SECOND);
    let outside = stack!(attempt_timeout(SECOND), places.clone(); peer);
    let first = outside.begin(get()).await;
    assert_eq!(cut(&outside.ask(get()).await), Some(Cut::AttemptTimeout));
    assert_eq!(cut(&first.await.unwrap()), Some(Cut::AttemptTimeout));
    assert_eq!((start.elapsed(), peer.calls()), (SECOND, 1));
    assert_eq!(in_flight(&places), 0, "nor was its place given to it");
    assert_eq!(places.handle().waiting("a.example"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_falls_silent_gives_its_place_back_in_either_order() {
    in_both_orders! {
        let places = bulkhead();
        let peer = Peer::new([Does::FallsSilent, Does::Says(200)]);
        stack!(places.clone(), body_timeout(SECOND); peer) => |stack| {
            let first = stack.begin(get()).await;
            assert_eq!(in_flight(&places), 1);
            assert_eq!(cut(&first.await.unwrap()), Some(Cut::BodyIdle));
            assert_eq!(in_flight(&places), 0);
            assert_eq!(status(stack.ask(get()).await), 200);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn propagation_outside_the_bulkhead_tells_the_time_before_the_queue() {
    let slow = || Peer::new([Does::Late(2 * SECOND), Does::Says(200)]);
    let peer = slow();
    let inside = stack!(queue(9 * SECOND), propagate(); peer);
    let _first = inside.begin(due(5 * SECOND, get())).await;
    assert_eq!(status(inside.ask(due(5 * SECOND, get())).await), 200);
    assert_eq!(peer.told(TIME), ["5000", "3000"]);

    let peer = slow();
    let outside = stack!(propagate(), queue(9 * SECOND); peer);
    let _first = outside.begin(due(5 * SECOND, get())).await;
    assert_eq!(status(outside.ask(due(5 * SECOND, get())).await), 200);
    assert_eq!(peer.told(TIME), ["5000", "5000"]);
}
