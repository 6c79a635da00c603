//! The same layer twice: a shared client has it, and its user adds another.

use std::num::NonZeroU32;

use bytes::Bytes;
use http::{Response, StatusCode};
use steadfast::admission::bulkhead::BulkheadConfig;
use steadfast::admission::fallback::Fell;
use steadfast::admission::{BreakerLayer, BulkheadLayer, FallbackLayer};
use steadfast::budget::Ending;
use steadfast::deadline::{PropagateConfig, PropagateLayer};
use steadfast::{CircuitState, Cut, Reason};
use tokio::time::Instant;

use super::asked::*;
use super::layers::*;
use super::peer::{Does, Peer};
use super::till::Till;

#[tokio::test(start_paused = true)]
async fn of_two_fallbacks_for_one_reason_the_inner_answers() {
    let says = |status: StatusCode| {
        FallbackLayer::new([Reason::CircuitOpen], move |_: &Fell<'_>| {
            let mut answer = Response::new(Bytes::new());
            *answer.status_mut() = status;
            answer
        })
        .with_answers()
    };
    let peer = Peer::new([Does::Refused(Reason::CircuitOpen)]);
    let stack = stack!(says(StatusCode::ACCEPTED), says(StatusCode::OK); peer);
    assert_eq!(status(stack.ask(get()).await), 200);
}

#[tokio::test(start_paused = true)]
async fn of_two_call_limits_the_shorter_ends_the_call() {
    for (outer, inner) in [(1, 5), (5, 1)] {
        let (start, peer) = (Instant::now(), Peer::new([Does::Hangs]));
        let stack = stack!(call_limit(outer * SECOND), call_limit(inner * SECOND); peer);
        assert_eq!(cut(&stack.ask(get()).await), Some(Cut::Deadline));
        assert_eq!(start.elapsed(), SECOND);
    }
}

#[tokio::test(start_paused = true)]
async fn of_two_key_layers_the_outer_makes_the_key_and_the_inner_keeps_it() {
    let peer = Peer::new([Does::Says(503), Does::Says(200)]);
    let stack = stack!(key(), retry(), key(); peer);
    assert_eq!(status(stack.ask(post()).await), 200);
    let keys = peer.told(KEY);
    assert_eq!((keys.len(), keys[0].len()), (2, 38));
    assert_eq!(keys[0], keys[1]);
}

#[tokio::test(start_paused = true)]
async fn of_two_retry_layers_the_outer_repeats_and_the_inner_passes_through() {
    let peer = Peer::new([Does::Says(503)]);
    let stack = stack!(retry(), retry(); peer);
    assert_eq!(status(stack.ask(get()).await), 503);
    assert_eq!(peer.calls(), 3, "and not nine");
}

#[tokio::test(start_paused = true)]
async fn of_two_budgets_each_must_allow_a_retry_and_what_one_refuses_costs_the_other_nothing() {
    let (open, empty) = (Till::open(), Till::empty());
    in_both_orders! {
        let peer = Peer::new([Does::Says(200)]);
        stack!(budget(&open), budget(&empty); peer) => |stack| {
            let refused = stack.ask(marked(2)).await;
            assert_eq!(reason(&refused), Some(Reason::BudgetExhausted));
            assert_eq!((open.told(), peer.calls()), (vec![], 0));
        }
    }
    let peer = Peer::new([Does::Says(200)]);
    let stack = stack!(budget(&open), budget(&empty); peer);
    assert_eq!(status(stack.ask(get()).await), 200);
    assert_eq!(
        (open.told(), empty.told()),
        (vec![Ending::Success], vec![Ending::Success])
    );
}

#[tokio::test(start_paused = true)]
async fn two_cooldowns_keep_to_one_pause() {
    let peer = Peer::new([Does::Tells(503, "retry-after", "4"), Does::Says(200)]);
    let stack = stack!(cooldown(), cooldown(); peer);
    assert_eq!(status(stack.ask(get()).await), 503);
    assert_eq!(retry_in(&stack.ask(get()).await), Some(4 * SECOND));
    tokio::time::sleep(4 * SECOND).await;
    assert_eq!(status(stack.ask(get()).await), 200);
}

#[tokio::test(start_paused = true)]
async fn of_two_bulkheads_the_narrower_refuses_and_no_place_is_lost() {
    let two = || {
        let config = BulkheadConfig::default().with_limit(NonZeroU32::new(2).unwrap());
        BulkheadLayer::new(config)
    };
    in_both_orders! {
        let wide = two();
        let narrow = bulkhead();
        let peer = Peer::new([Does::Late(SECOND)]);
        stack!(wide.clone(), narrow.clone(); peer) => |stack| {
            let first = stack.begin(get()).await;
            let refused = stack.ask(get()).await;
            assert_eq!(reason(&refused), Some(Reason::BulkheadFull));
            assert_eq!(status(first.await.unwrap()), 200);
            assert_eq!((in_flight(&wide), in_flight(&narrow)), (0, 0));
            assert_eq!(status(stack.ask(get()).await), 200);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_outer_breaker_is_not_opened_by_the_refusals_of_an_inner_one() {
    let patient = || {
        let failures = NonZeroU32::new(3).unwrap();
        BreakerLayer::new(breaker_config().with_consecutive_failures(failures))
    };
    let (outer, inner) = (patient(), breaker());
    let peer = Peer::new([Does::Says(503)]);
    let stack = stack!(outer.clone(), inner.clone(); peer);
    assert_eq!(status(stack.ask(get()).await), 503);
    for _ in 0..9 {
        let refused = stack.ask(get()).await;
        assert_eq!(reason(&refused), Some(Reason::CircuitOpen));
    }
    assert_eq!(state(&inner), CircuitState::Open);
    assert_eq!(state(&outer), CircuitState::Closed);
    assert_eq!(peer.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn of_two_hint_layers_the_outer_has_the_last_word_where_it_can_read_one() {
    in_both_orders! {
        let peer = Peer::new([Does::Tells(503, TAUGHT, "7")]);
        stack!(hint_layer(), taught(); peer) => |stack| {
            assert_eq!(hint(&stack.ask(get()).await), Some(7 * SECOND));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn of_two_attempt_timeouts_the_shorter_ends_the_attempt_and_is_told() {
    for (outer, inner) in [(1, 3), (3, 1)] {
        let (start, peer) = (Instant::now(), Peer::new([Does::Hangs]));
        let (outer, inner) = (outer * SECOND, inner * SECOND);
        let stack = stack!(attempt_timeout(outer), attempt_timeout(inner), propagate(); peer);
        let ended = stack.ask(due(9 * SECOND, get())).await;
        assert_eq!(cut(&ended), Some(Cut::AttemptTimeout));
        assert_eq!(start.elapsed(), SECOND);
        assert_eq!(peer.told(TIME), ["1000"]);
    }
}

#[tokio::test(start_paused = true)]
async fn of_two_body_timeouts_the_shorter_ends_a_silent_body() {
    for (outer, inner) in [(1, 3), (3, 1)] {
        let (start, peer) = (Instant::now(), Peer::new([Does::FallsSilent]));
        let stack = stack!(body_timeout(outer * SECOND), body_timeout(inner * SECOND); peer);
        assert_eq!(cut(&stack.ask(get()).await), Some(Cut::BodyIdle));
        assert_eq!(start.elapsed(), SECOND);
    }
}

#[tokio::test(start_paused = true)]
async fn two_propagations_take_their_margin_once() {
    let tell = || PropagateLayer::new(PropagateConfig::default().with_margin(SECOND));
    let peer = Peer::new([Does::Says(200)]);
    let stack = stack!(tell(), tell(); peer);
    assert_eq!(status(stack.ask(due(5 * SECOND, get())).await), 200);
    assert_eq!(peer.told(TIME), ["4000"]);
}
