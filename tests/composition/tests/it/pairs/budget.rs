//! A budget layer around each layer of one attempt, and inside it.

use steadfast::budget::Ending;
use steadfast::{CircuitState, Cut, Reason};

use super::asked::*;
use super::layers::*;
use super::peer::{Does, Peer};
use super::till::Till;

#[tokio::test(start_paused = true)]
async fn a_retry_that_a_pause_refuses_costs_no_budget_in_either_order() {
    in_both_orders! {
        let till = Till::open();
        let peer = Peer::new([Does::Tells(503, "retry-after", "4")]);
        stack!(budget(&till), cooldown(); peer) => |stack| {
            assert_eq!(status(stack.ask(get()).await), 503);
            assert_eq!(reason(&stack.ask(marked(2)).await), Some(Reason::Cooldown));
            assert_eq!(till.told(), [Ending::Failure]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_retry_that_finds_no_place_costs_no_budget_and_one_without_budget_holds_no_place() {
    in_both_orders! {
        let till = Till::open();
        let places = bulkhead();
        let peer = Peer::new([Does::Hangs]);
        stack!(budget(&till), places.clone(); peer) => |stack| {
            let _holds = stack.begin(get()).await;
            assert_eq!(reason(&stack.ask(marked(2)).await), Some(Reason::BulkheadFull));
            assert_eq!(till.told(), []);
        }
    }
    in_both_orders! {
        let till = Till::empty();
        let places = bulkhead();
        let peer = Peer::new([Does::Says(200)]);
        stack!(budget(&till), places.clone(); peer) => |stack| {
            assert_eq!(reason(&stack.ask(marked(2)).await), Some(Reason::BudgetExhausted));
            assert_eq!(in_flight(&places), 0);
            assert_eq!(status(stack.ask(get()).await), 200);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_retry_at_an_open_circuit_costs_no_budget_and_one_without_budget_opens_none() {
    in_both_orders! {
        let till = Till::open();
        let circuit = breaker();
        let peer = Peer::new([Does::Says(503)]);
        stack!(budget(&till), circuit.clone(); peer) => |stack| {
            assert_eq!(status(stack.ask(get()).await), 503);
            assert_eq!(reason(&stack.ask(marked(2)).await), Some(Reason::CircuitOpen));
            assert_eq!(till.told(), [Ending::Failure]);
        }
    }
    in_both_orders! {
        let till = Till::empty();
        let circuit = breaker();
        let peer = Peer::new([Does::Says(200)]);
        stack!(budget(&till), circuit.clone(); peer) => |stack| {
            assert_eq!(reason(&stack.ask(marked(2)).await), Some(Reason::BudgetExhausted));
            assert_eq!(state(&circuit), CircuitState::Closed);
            assert_eq!(peer.calls(), 0);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_budget_and_a_hint_layer_do_not_meet() {
    in_both_orders! {
        let till = Till::open();
        let peer = Peer::new([Does::Tells(503, "retry-after", "9")]);
        stack!(budget(&till), hint_layer(); peer) => |stack| {
            assert_eq!(hint(&stack.ask(get()).await), Some(9 * SECOND));
            assert_eq!(till.told(), [Ending::Failure]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_attempt_timeout_outside_the_budget_shows_it_no_failure() {
    let peer = Peer::new([Does::Hangs]);
    let till = Till::open();
    let inside = stack!(budget(&till), attempt_timeout(SECOND); peer);
    assert_eq!(cut(&inside.ask(get()).await), Some(Cut::AttemptTimeout));
    assert_eq!(till.told(), [Ending::Failure]);

    let till = Till::open();
    let outside = stack!(attempt_timeout(SECOND), budget(&till); peer);
    assert_eq!(cut(&outside.ask(get()).await), Some(Cut::AttemptTimeout));
    assert_eq!(till.told(), [Ending::Neither]);
}

#[tokio::test(start_paused = true)]
async fn a_budget_is_told_of_the_head_and_not_of_a_silent_body_in_either_order() {
    in_both_orders! {
        let till = Till::open();
        let peer = Peer::new([Does::FallsSilent]);
        stack!(budget(&till), body_timeout(SECOND); peer) => |stack| {
            assert_eq!(cut(&stack.ask(get()).await), Some(Cut::BodyIdle));
            assert_eq!(till.told(), [Ending::Success]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_retry_without_time_to_tell_costs_no_budget_in_either_order() {
    in_both_orders! {
        let till = Till::open();
        let peer = Peer::new([Does::Says(200)]);
        stack!(budget(&till), propagate(); peer) => |stack| {
            let late = due(SECOND / 2_000, marked(2));
            assert_eq!(reason(&stack.ask(late).await), Some(Reason::Deadline));
            assert_eq!(till.told(), []);
            assert_eq!(status(stack.ask(due(5 * SECOND, get())).await), 200);
            assert_eq!(peer.told(TIME), ["5000"]);
        }
    }
}
