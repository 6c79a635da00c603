//! A cooldown around each layer below it, and inside it.

use steadfast::{CircuitState, Cut, Reason};
use tokio::time::{Instant, sleep};
use tower::util::MapFutureLayer;

use super::asked::*;
use super::layers::*;
use super::peer::{Does, Peer};

/// The answer that begins the pause comes while another call waits for the place.
#[tokio::test(start_paused = true)]
async fn a_call_in_the_queue_goes_out_into_a_pause_only_if_the_cooldown_stands_outside() {
    let says = || Peer::new([Does::Tells(503, "retry-after", "9"), Does::Says(200)]);
    let slow = || {
        MapFutureLayer::new(|answer| async move {
            sleep(SECOND).await;
            answer.await
        })
    };
    let peer = says();
    let outside = stack!(cooldown(), queue(5 * SECOND), slow(); peer);
    let first = outside.begin(get()).await;
    assert_eq!(status(outside.ask(get()).await), 200);
    assert_eq!((status(first.await.unwrap()), peer.calls()), (503, 2));

    let peer = says();
    let inside = stack!(queue(5 * SECOND), cooldown(), slow(); peer);
    let first = inside.begin(get()).await;
    assert_eq!(reason(&inside.ask(get()).await), Some(Reason::Cooldown));
    assert_eq!((status(first.await.unwrap()), peer.calls()), (503, 1));
}

/// One call from before the pause hangs, and has the only place.
#[tokio::test(start_paused = true)]
async fn during_a_pause_a_full_bulkhead_is_heard_of_only_if_it_stands_outside() {
    for (outside, refused_by) in [(true, Reason::BulkheadFull), (false, Reason::Cooldown)] {
        let peer = Peer::new([Does::Hangs, Does::Tells(503, "retry-after", "9")]);
        let (places, pause) = (bulkhead(), cooldown());
        let _holds = stack!(places.clone(); peer).begin(get()).await;
        assert_eq!(status(stack!(pause.clone(); peer).ask(get()).await), 503);
        let ended = match outside {
            true => stack!(places, pause; peer).ask(get()).await,
            false => stack!(pause, places; peer).ask(get()).await,
        };
        assert_eq!(reason(&ended), Some(refused_by));
    }
}

#[tokio::test(start_paused = true)]
async fn of_a_pause_and_an_open_circuit_the_outer_one_says_when_to_come_back() {
    let says = || Peer::new([Does::Tells(503, "retry-after", "9"), Does::Says(200)]);
    let (peer, circuit) = (says(), breaker());
    let outside = stack!(cooldown(), circuit.clone(); peer);
    assert_eq!(status(outside.ask(get()).await), 503);
    let refused = outside.ask(get()).await;
    assert_eq!(reason(&refused), Some(Reason::Cooldown));
    assert_eq!(retry_in(&refused), Some(9 * SECOND));

    let (peer, circuit) = (says(), breaker());
    let inside = stack!(circuit.clone(), cooldown(); peer);
    assert_eq!(status(inside.ask(get()).await), 503);
    let refused = inside.ask(get()).await;
    assert_eq!(reason(&refused), Some(Reason::CircuitOpen));
    assert_eq!(retry_in(&refused), Some(5 * SECOND));
    // Its probe then meets the pause, which says nothing about the peer.
    sleep(5 * SECOND).await;
    assert_eq!(reason(&inside.ask(get()).await), Some(Reason::Cooldown));
    assert_eq!(state(&circuit), CircuitState::HalfOpen);
    sleep(4 * SECOND).await;
    assert_eq!(status(inside.ask(get()).await), 200);
    assert_eq!(state(&circuit), CircuitState::Closed);
    assert_eq!(peer.calls(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_hint_layer_inside_the_cooldown_tells_it_what_only_that_layer_can_read() {
    let says = || Peer::new([Does::Tells(503, TAUGHT, "7"), Does::Says(200)]);
    let peer = says();
    let inside = stack!(cooldown(), taught(); peer);
    assert_eq!(status(inside.ask(get()).await), 503);
    assert_eq!(reason(&inside.ask(get()).await), Some(Reason::Cooldown));

    let peer = says();
    let outside = stack!(taught(), cooldown(); peer);
    assert_eq!(status(outside.ask(get()).await), 503);
    assert_eq!(status(outside.ask(get()).await), 200);
}

#[tokio::test(start_paused = true)]
async fn a_timeout_begins_no_pause_in_either_order() {
    in_both_orders! {
        let peer = Peer::new([Does::Hangs, Does::Tells(503, "retry-after", "9")]);
        stack!(cooldown(), attempt_timeout(SECOND); peer) => |stack| {
            assert_eq!(cut(&stack.ask(get()).await), Some(Cut::AttemptTimeout));
            assert_eq!(status(stack.ask(get()).await), 503);
            assert_eq!(reason(&stack.ask(get()).await), Some(Reason::Cooldown));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_body_begins_no_pause_in_either_order() {
    in_both_orders! {
        let peer = Peer::new([Does::FallsSilent, Does::Says(200)]);
        stack!(cooldown(), body_timeout(SECOND); peer) => |stack| {
            assert_eq!(cut(&stack.ask(get()).await), Some(Cut::BodyIdle));
            assert_eq!(status(stack.ask(get()).await), 200);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_pause_refuses_before_and_after_the_time_was_told() {
    in_both_orders! {
        let start = Instant::now();
        let peer = Peer::new([Does::Tells(503, "retry-after", "9")]);
        stack!(cooldown(), propagate(); peer) => |stack| {
            assert_eq!(status(stack.ask(due(5 * SECOND, get())).await), 503);
            let refused = stack.ask(due(5 * SECOND, get())).await;
            assert_eq!(reason(&refused), Some(Reason::Cooldown));
            assert_eq!(peer.told(TIME), ["5000"]);
            assert!(start.elapsed().is_zero());
        }
    }
}
