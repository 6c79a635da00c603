//! A breaker around each layer below it, and inside it. With the timeouts: `breaker` above.

use steadfast::admission::BreakerLayer;
use steadfast::{CircuitState, Hints, Reason};

use super::asked::*;
use super::layers::*;
use super::peer::{Does, Peer};

#[tokio::test(start_paused = true)]
async fn a_hint_layer_inside_the_breaker_tells_it_what_only_that_layer_can_read() {
    // It stays open for at least as long as the peer asked.
    let asks = || BreakerLayer::new(breaker_config().with_hints(Hints::default()));
    let says = || Peer::new([Does::Tells(503, TAUGHT, "20")]);
    let peer = says();
    let inside = stack!(asks(), taught(); peer);
    assert_eq!(hint(&inside.ask(get()).await), Some(20 * SECOND));
    assert_eq!(retry_in(&inside.ask(get()).await), Some(20 * SECOND));

    let peer = says();
    let outside = stack!(taught(), asks(); peer);
    assert_eq!(hint(&outside.ask(get()).await), Some(20 * SECOND));
    assert_eq!(retry_in(&outside.ask(get()).await), Some(5 * SECOND));
}

#[tokio::test(start_paused = true)]
async fn an_attempt_without_time_to_tell_says_nothing_to_the_circuit_in_either_order() {
    in_both_orders! {
        let circuit = breaker();
        let peer = Peer::new([Does::Says(503), Does::Says(200)]);
        stack!(circuit.clone(), propagate(); peer) => |stack| {
            let late = || due(SECOND / 2_000, get());
            assert_eq!(reason(&stack.ask(late()).await), Some(Reason::Deadline));
            assert_eq!(state(&circuit), CircuitState::Closed);
            assert_eq!(status(stack.ask(get()).await), 503);
            tokio::time::sleep(5 * SECOND).await;
            // It is no probe that keeps its place, either.
            assert_eq!(reason(&stack.ask(late()).await), Some(Reason::Deadline));
            assert_eq!(status(stack.ask(due(5 * SECOND, get())).await), 200);
            assert_eq!(state(&circuit), CircuitState::Closed);
            assert_eq!(peer.told(TIME), ["", "5000"]);
        }
    }
}
