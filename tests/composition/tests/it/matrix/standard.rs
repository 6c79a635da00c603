//! The client's layers as the facade assembles them.

use std::time::Duration;

use steadfast::client::{Draft, Profile, StandardLayer};
use steadfast::idempotency::client::Routes;
use steadfast::{CircuitState, Cut, Reason};
use tower::Layer;

use super::over::Over;
use super::over_each;
use crate::pairs::asked::*;
use crate::pairs::layers::*;
use crate::pairs::peer::Does;

over_each![
    a_keyed_write_is_repeated_with_its_key_and_told_its_time,
    a_peer_that_hangs_opens_the_circuit_of_its_destination,
    a_host_that_asks_for_a_pause_is_not_asked_again,
    a_body_that_falls_silent_ends_and_gives_its_place_back,
];

/// Quick, so that a real clock is soon done.
fn layer(authority: &str) -> StandardLayer {
    let draft = Draft::of(Profile::Default);
    let one = 1.try_into().unwrap();
    let two = 2.try_into().unwrap();
    let policy = draft
        .clone()
        .with_key_routes(Routes::new().any_write(authority).unwrap())
        .with_attempt_timeout(SECOND)
        .with_backoff(quick_backoff())
        .with_bulkhead(draft.bulkhead().clone().with_limit(one))
        .with_breaker(draft.breaker().clone().with_consecutive_failures(two))
        .with_body_timeout(draft.body_timeout().with_idle(SECOND));
    StandardLayer::new(policy.check().unwrap())
}

async fn a_keyed_write_is_repeated_with_its_key_and_told_its_time<O: Over>() {
    let over = O::start([Does::Says(503), Does::Says(200)]).await;
    let stack = layer(&over.authority()).layer(over.replayed());
    assert_eq!(status(stack.ask(over.to(post())).await), 200);
    let keys = over.peer().told(KEY);
    assert_eq!((keys.len(), keys[0].len()), (2, 38));
    assert_eq!(keys[0], keys[1]);
    for told in over.peer().told(TIME) {
        let told = told.parse::<u64>().unwrap();
        assert!((1..=1_000).contains(&told), "the attempt's: {told}");
    }
}

async fn a_peer_that_hangs_opens_the_circuit_of_its_destination<O: Over>() {
    let over = O::start([Does::Hangs]).await;
    let layer = layer(&over.authority());
    let stack = layer.layer(over.replayed());
    let ended = stack.ask(over.to(get())).await;
    let state = layer.handle().breaker().state(&over.authority());
    assert_eq!((state, over.peer().calls()), (CircuitState::Open, 2));
    // The budget of one call is one retry.
    assert_eq!(reason(&ended), Some(Reason::BudgetExhausted));
    let ended = stack.ask(over.to(get())).await;
    assert_eq!(reason(&ended), Some(Reason::CircuitOpen));
    assert_eq!(over.peer().calls(), 2);
}

async fn a_host_that_asks_for_a_pause_is_not_asked_again<O: Over>() {
    let over = O::start([Does::Tells(429, "retry-after", "3600"), Does::Says(200)]).await;
    let layer = layer(&over.authority());
    let stack = layer.layer(over.replayed());
    // Longer than the call: its answer comes back at once.
    let ended = stack.ask(over.to(get())).await;
    assert_eq!(reason(&ended), Some(Reason::Deadline));
    assert_eq!(status(ended), 429);
    let ended = stack.ask(over.to(get())).await;
    assert_eq!(reason(&ended), Some(Reason::Cooldown));
    let rest = layer.handle().cooldown().remaining(&over.authority());
    assert!(rest.is_some_and(|rest| rest > Duration::from_secs(50)));
    assert_eq!(over.peer().calls(), 1);
}

async fn a_body_that_falls_silent_ends_and_gives_its_place_back<O: Over>() {
    let over = O::start([Does::FallsSilent, Does::Says(200)]).await;
    let stack = layer(&over.authority()).layer(over.replayed());
    let ended = stack.ask(over.to(get())).await;
    assert_eq!(cut(&ended), Some(Cut::BodyIdle));
    // The one place of the bulkhead is free.
    assert_eq!(status(stack.ask(over.to(get())).await), 200);
}
