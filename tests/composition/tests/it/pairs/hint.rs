//! A hint layer around the layers of time, and inside them.

use steadfast::Cut;

use super::asked::*;
use super::layers::*;
use super::peer::{Does, Peer};

#[tokio::test(start_paused = true)]
async fn a_hint_layer_and_an_attempt_timeout_do_not_meet() {
    in_both_orders! {
        let peer = Peer::new([Does::Tells(503, "retry-after", "9"), Does::Hangs]);
        stack!(hint_layer(), attempt_timeout(SECOND); peer) => |stack| {
            assert_eq!(hint(&stack.ask(get()).await), Some(9 * SECOND));
            assert_eq!(cut(&stack.ask(get()).await), Some(Cut::AttemptTimeout));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_hint_layer_and_a_body_timeout_do_not_meet() {
    in_both_orders! {
        let peer = Peer::new([Does::Tells(503, "retry-after", "9"), Does::FallsSilent]);
        stack!(hint_layer(), body_timeout(SECOND); peer) => |stack| {
            assert_eq!(hint(&stack.ask(get()).await), Some(9 * SECOND));
            assert_eq!(cut(&stack.ask(get()).await), Some(Cut::BodyIdle));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_hint_layer_and_propagation_do_not_meet() {
    in_both_orders! {
        let peer = Peer::new([Does::Tells(503, "retry-after", "9")]);
        stack!(hint_layer(), propagate(); peer) => |stack| {
            let ended = stack.ask(due(5 * SECOND, get())).await;
            assert_eq!(hint(&ended), Some(9 * SECOND));
            assert_eq!(peer.told(TIME), ["5000"]);
        }
    }
}
