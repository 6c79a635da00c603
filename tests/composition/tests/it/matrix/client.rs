//! Each layer of a client alone.

use std::time::Duration;

use http_body_util::BodyExt;
use steadfast::idempotency::client::{KeyConfig, KeyLayer, Routes};
use steadfast::{CircuitState, Cut, Reason};
use tower::{Layer, ServiceExt};

use super::over::Over;
use super::over_each;
use crate::pairs::asked::*;
use crate::pairs::layers::*;
use crate::pairs::peer::Does;
use crate::pairs::till::Till;

/// Far above what an answer takes, and not long.
const SOON: Duration = Duration::from_millis(500);

over_each![
    a_fallback_stands_in_for_a_timeout_and_for_no_answer,
    a_call_limit_ends_a_call_that_hangs,
    a_key_layer_writes_the_key_that_arrives,
    retry_makes_200_of_503_and_200,
    a_budget_layer_refuses_a_retry_and_lets_first_attempts_through,
    a_cooldown_keeps_away_from_who_asked_for_it,
    a_bulkhead_is_full_until_the_body_is_read,
    a_breaker_opens,
    a_hint_layer_leaves_the_hint_at_the_answer,
    an_attempt_timeout_ends_an_attempt_that_hangs,
    a_body_timeout_ends_a_body_that_falls_silent,
    propagation_tells_the_time_that_is_left,
];

/// Timeouts are the one error with a reason that needs no other layer than one of time.
async fn a_fallback_stands_in_for_a_timeout_and_for_no_answer<O: Over>() {
    let over = O::start([Does::Says(503), Does::Hangs]).await;
    let timed = attempt_timeout(SOON).layer(over.plain());
    let stack = fallback(Reason::Deadline).layer(timed);
    assert_eq!(status(stack.ask(over.to(get())).await), 503);
    let ended = stack.ask(over.to(get())).await;
    assert_eq!(stood_in_for(&ended), Some(Reason::Deadline));
    assert_eq!((status(ended), over.peer().calls()), (203, 2));
}

async fn a_call_limit_ends_a_call_that_hangs<O: Over>() {
    let over = O::start([Does::Says(200), Does::Hangs]).await;
    let stack = call_limit(SOON).layer(over.plain());
    assert_eq!(status(stack.ask(over.to(get())).await), 200);
    let ended = stack.ask(over.to(get())).await;
    assert_eq!(cut(&ended), Some(Cut::Deadline));
    assert_eq!(over.peer().calls(), 2);
}

async fn a_key_layer_writes_the_key_that_arrives<O: Over>() {
    let over = O::start([Does::Says(200)]).await;
    let routes = Routes::new().any_write(&over.authority()).unwrap();
    let stack = KeyLayer::new(KeyConfig::new(routes)).layer(over.plain());
    for request in [get(), post(), post()] {
        assert_eq!(status(stack.ask(over.to(request)).await), 200);
    }
    let keys = over.peer().told(KEY);
    assert!(keys[0].is_empty(), "a GET needs none");
    assert_eq!((keys[1].len(), keys[2].len()), (38, 38));
    assert_ne!(keys[1], keys[2]);
}

async fn retry_makes_200_of_503_and_200<O: Over>() {
    let over = O::start([Does::Says(503), Does::Says(200)]).await;
    let stack = quick_retry().layer(over.replayed());
    assert_eq!(status(stack.ask(over.to(get())).await), 200);
    assert_eq!(over.peer().calls(), 2);
}

async fn a_budget_layer_refuses_a_retry_and_lets_first_attempts_through<O: Over>() {
    let over = O::start([Does::Says(200)]).await;
    let stack = budget(&Till::empty()).layer(over.plain());
    assert_eq!(status(stack.ask(over.to(marked(1))).await), 200);
    let refused = stack.ask(over.to(marked(2))).await;
    assert_eq!(reason(&refused), Some(Reason::BudgetExhausted));
    assert_eq!(over.peer().calls(), 1);
}

async fn a_cooldown_keeps_away_from_who_asked_for_it<O: Over>() {
    let over = O::start([Does::Tells(503, "retry-after", "60")]).await;
    let stack = cooldown().layer(over.plain());
    assert_eq!(status(stack.ask(over.to(get())).await), 503);
    let refused = stack.ask(over.to(get())).await;
    assert_eq!(reason(&refused), Some(Reason::Cooldown));
    assert_eq!(over.peer().calls(), 1);
}

async fn a_bulkhead_is_full_until_the_body_is_read<O: Over>() {
    let over = O::start([Does::Says(200)]).await;
    let stack = bulkhead().layer(over.plain());
    let Ok(unread) = stack.clone().oneshot(over.to(get())).await else {
        panic!("the first call was refused");
    };
    let refused = stack.ask(over.to(get())).await;
    assert_eq!(reason(&refused), Some(Reason::BulkheadFull));
    assert!(unread.into_body().collect().await.is_ok());
    assert_eq!(status(stack.ask(over.to(get())).await), 200);
    assert_eq!(over.peer().calls(), 2);
}

async fn a_breaker_opens<O: Over>() {
    let over = O::start([Does::Says(200), Does::Says(503)]).await;
    let layer = breaker();
    let stack = layer.layer(over.plain());
    assert_eq!(status(stack.ask(over.to(get())).await), 200);
    assert_eq!(status(stack.ask(over.to(get())).await), 503);
    let refused = stack.ask(over.to(get())).await;
    assert_eq!(reason(&refused), Some(Reason::CircuitOpen));
    let state = layer.handle().state(&over.authority());
    assert_eq!((state, over.peer().calls()), (CircuitState::Open, 2));
}

async fn a_hint_layer_leaves_the_hint_at_the_answer<O: Over>() {
    let over = O::start([Does::Tells(503, "retry-after", "9")]).await;
    let stack = hint_layer().layer(over.plain());
    let ended = stack.ask(over.to(get())).await;
    assert_eq!(hint(&ended), Some(9 * SECOND));
    assert_eq!(status(ended), 503);
}

async fn an_attempt_timeout_ends_an_attempt_that_hangs<O: Over>() {
    let over = O::start([Does::Says(200), Does::Hangs]).await;
    let stack = attempt_timeout(SOON).layer(over.plain());
    assert_eq!(status(stack.ask(over.to(get())).await), 200);
    let ended = stack.ask(over.to(get())).await;
    assert_eq!(cut(&ended), Some(Cut::AttemptTimeout));
    assert_eq!(over.peer().calls(), 2);
}

async fn a_body_timeout_ends_a_body_that_falls_silent<O: Over>() {
    let over = O::start([Does::Says(200), Does::FallsSilent]).await;
    let stack = body_timeout(SOON).layer(over.plain());
    assert_eq!(status(stack.ask(over.to(get())).await), 200);
    let ended = stack.ask(over.to(get())).await;
    assert_eq!(cut(&ended), Some(Cut::BodyIdle));
}

async fn propagation_tells_the_time_that_is_left<O: Over>() {
    let over = O::start([Does::Says(200)]).await;
    let stack = propagate().layer(over.plain());
    let ended = stack.ask(due(60 * SECOND, over.to(get()))).await;
    assert_eq!(status(ended), 200);
    let told = over.peer().told(TIME)[0].parse::<u64>().unwrap();
    assert!((30_000..=60_000).contains(&told), "{told}");
}
