//! An attempt timeout around the layers below it, and inside them.

use steadfast::Cut;
use tokio::time::Instant;

use super::asked::*;
use super::layers::*;
use super::peer::{Does, Peer};

#[tokio::test(start_paused = true)]
async fn the_head_and_the_body_of_an_answer_are_timed_apart_in_either_order() {
    in_both_orders! {
        let start = Instant::now();
        let peer = Peer::new([Does::Hangs, Does::FallsSilent]);
        stack!(attempt_timeout(SECOND), body_timeout(3 * SECOND); peer) => |stack| {
            assert_eq!(cut(&stack.ask(get()).await), Some(Cut::AttemptTimeout));
            assert_eq!(start.elapsed(), SECOND);
            assert_eq!(cut(&stack.ask(get()).await), Some(Cut::BodyIdle));
            assert_eq!(start.elapsed(), 4 * SECOND);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn propagation_outside_the_attempt_timeout_tells_the_time_of_the_whole_call() {
    let peer = Peer::new([Does::Says(200)]);
    let inside = stack!(attempt_timeout(SECOND), propagate(); peer);
    assert_eq!(status(inside.ask(due(5 * SECOND, get())).await), 200);
    let outside = stack!(propagate(), attempt_timeout(SECOND); peer);
    assert_eq!(status(outside.ask(due(5 * SECOND, get())).await), 200);
    assert_eq!(peer.told(TIME), ["1000", "5000"]);
}
