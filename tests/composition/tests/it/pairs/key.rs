//! A key layer around each other layer, and inside it. With retry: `one_key`.

use steadfast::budget::Ending;
use steadfast::{CircuitState, Cut, Reason};

use super::asked::*;
use super::layers::*;
use super::peer::{Does, Peer};
use super::till::Till;

/// A fresh UUID in quotes.
fn is_key(header: &str) -> bool {
    header.len() == 38 && header.starts_with('"')
}

#[tokio::test(start_paused = true)]
async fn a_budget_hears_nothing_of_a_call_without_its_key_in_either_order() {
    in_both_orders! {
        let till = Till::open();
        let peer = Peer::new([Does::Says(200)]);
        stack!(explicit_key(), budget(&till); peer) => |stack| {
            assert_eq!(reason(&stack.ask(post()).await), Some(Reason::KeyRequired));
            assert_eq!(till.told(), []);
            assert_eq!(status(stack.ask(get()).await), 200);
            assert_eq!(till.told(), [Ending::Success]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_keyed_call_waits_for_the_end_of_a_pause_in_either_order() {
    in_both_orders! {
        let peer = Peer::new([Does::Tells(429, "retry-after", "4"), Does::Says(200)]);
        stack!(key(), cooldown(); peer) => |stack| {
            assert_eq!(status(stack.ask(post()).await), 429);
            assert_eq!(reason(&stack.ask(post()).await), Some(Reason::Cooldown));
            tokio::time::sleep(4 * SECOND).await;
            assert_eq!(status(stack.ask(post()).await), 200);
            let keys = peer.told(KEY);
            assert!(keys.iter().all(|key| is_key(key)) && keys[0] != keys[1], "{keys:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_without_its_key_holds_no_place_in_either_order() {
    in_both_orders! {
        let places = bulkhead();
        let peer = Peer::new([Does::Says(200)]);
        stack!(explicit_key(), places.clone(); peer) => |stack| {
            let refused = stack.ask(post()).await;
            assert_eq!(reason(&refused), Some(Reason::KeyRequired));
            assert_eq!(in_flight(&places), 0);
            assert_eq!(status(stack.ask(get()).await), 200);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_without_its_key_says_nothing_to_the_circuit_in_either_order() {
    in_both_orders! {
        let circuit = breaker();
        let peer = Peer::new([Does::Says(503), Does::Says(200)]);
        stack!(explicit_key(), circuit.clone(); peer) => |stack| {
            assert_eq!(reason(&stack.ask(post()).await), Some(Reason::KeyRequired));
            assert_eq!(state(&circuit), CircuitState::Closed);
            assert_eq!(status(stack.ask(get()).await), 503);
            tokio::time::sleep(5 * SECOND).await;
            // It is no probe that keeps its place, either.
            assert_eq!(reason(&stack.ask(post()).await), Some(Reason::KeyRequired));
            assert_eq!(status(stack.ask(get()).await), 200);
            assert_eq!(state(&circuit), CircuitState::Closed);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_keyed_calls_hint_is_read_in_either_order() {
    in_both_orders! {
        let peer = Peer::new([Does::Tells(503, "retry-after", "9")]);
        stack!(key(), hint_layer(); peer) => |stack| {
            assert_eq!(hint(&stack.ask(post()).await), Some(9 * SECOND));
            assert!(is_key(&peer.told(KEY)[0]));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_keyed_attempt_is_timed_in_either_order() {
    in_both_orders! {
        let peer = Peer::new([Does::Hangs]);
        stack!(key(), attempt_timeout(SECOND); peer) => |stack| {
            assert_eq!(cut(&stack.ask(post()).await), Some(Cut::AttemptTimeout));
            assert!(is_key(&peer.told(KEY)[0]));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_answer_to_a_keyed_call_is_timed_in_either_order() {
    in_both_orders! {
        let peer = Peer::new([Does::FallsSilent]);
        stack!(key(), body_timeout(SECOND); peer) => |stack| {
            assert_eq!(cut(&stack.ask(post()).await), Some(Cut::BodyIdle));
            assert!(is_key(&peer.told(KEY)[0]));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_keyed_call_tells_its_time_in_either_order() {
    in_both_orders! {
        let peer = Peer::new([Does::Says(200)]);
        stack!(key(), propagate(); peer) => |stack| {
            assert_eq!(status(stack.ask(due(5 * SECOND, post())).await), 200);
            assert_eq!(peer.told(TIME), ["5000"]);
            assert!(is_key(&peer.told(KEY)[0]));
        }
    }
}
