//! A body timeout around propagation, and inside it.

use steadfast::Cut;

use super::asked::*;
use super::layers::*;
use super::peer::{Does, Peer};

#[tokio::test(start_paused = true)]
async fn a_body_timeout_and_propagation_do_not_meet() {
    in_both_orders! {
        let peer = Peer::new([Does::FallsSilent]);
        stack!(body_timeout(SECOND), propagate(); peer) => |stack| {
            let ended = stack.ask(due(5 * SECOND, get())).await;
            assert_eq!(cut(&ended), Some(Cut::BodyIdle));
            assert_eq!(peer.told(TIME), ["5000"]);
        }
    }
}
