//! All layers of a client, assembled by hand in the order of the table.

use steadfast::admission::BreakerLayer;
use steadfast::idempotency::client::{KeyConfig, KeyLayer, Routes};
use steadfast::retry::{BudgetLayer, CountAttemptsLayer};
use steadfast::{CircuitState, Cut, Reason};
use tower::ServiceBuilder;

use super::over::Over;
use super::over_each;
use crate::pairs::asked::*;
use crate::pairs::layers::*;
use crate::pairs::peer::Does;
use crate::pairs::till::Till;

over_each![
    a_keyed_call_is_repeated_with_its_key_and_told_its_time,
    a_peer_that_hangs_opens_the_circuit_and_the_fallback_answers,
    a_host_that_asks_for_a_pause_is_not_asked_again,
    a_body_that_falls_silent_ends_and_gives_everything_back,
];

/// What a test looks at from outside.
struct Handles {
    circuit: BreakerLayer,
    till: Till,
}

/// The stack, and its handles.
macro_rules! whole {
    ($over:expr) => {{
        let routes = Routes::new().any_write(&$over.authority()).unwrap();
        let (circuit, till) = (breaker_of_two(), Till::open());
        let stack = ServiceBuilder::new()
            .layer(fallback_for([Reason::CircuitOpen, Reason::Cooldown]))
            .layer(call_limit(60 * SECOND))
            .layer(KeyLayer::new(KeyConfig::new(routes)))
            .layer(CountAttemptsLayer::new())
            .layer(quick_retry())
            .layer(BudgetLayer::new(till.clone()))
            .layer(cooldown())
            .layer(bulkhead())
            .layer(circuit.clone())
            .layer(hint_layer())
            .layer(attempt_timeout(SECOND))
            .layer(body_timeout(SECOND))
            .layer(propagate())
            .service($over.replayed());
        (stack, Handles { circuit, till })
    }};
}

/// Opens at the second failure in a row.
fn breaker_of_two() -> BreakerLayer {
    BreakerLayer::new(breaker_config().with_consecutive_failures(2.try_into().unwrap()))
}

async fn a_keyed_call_is_repeated_with_its_key_and_told_its_time<O: Over>() {
    let over = O::start([Does::Says(503), Does::Says(200)]).await;
    let (stack, handles) = whole!(over);
    let ended = stack.ask(over.to(post())).await;
    assert_eq!(status(ended), 200);
    let keys = over.peer().told(KEY);
    assert_eq!((keys.len(), keys[0].len()), (2, 38));
    assert_eq!(keys[0], keys[1]);
    for told in over.peer().told(TIME) {
        let told = told.parse::<u64>().unwrap();
        assert!((1..=1_000).contains(&told), "the attempt's: {told}");
    }
    use steadfast::budget::Ending::{Failure, Success};
    assert_eq!(handles.till.told(), [Failure, Success]);
    let state = handles.circuit.handle().state(&over.authority());
    assert_eq!(state, CircuitState::Closed);
}

async fn a_peer_that_hangs_opens_the_circuit_and_the_fallback_answers<O: Over>() {
    let over = O::start([Does::Hangs]).await;
    let (stack, handles) = whole!(over);
    // The third attempt meets the open circuit.
    let ended = stack.ask(over.to(get())).await;
    let state = handles.circuit.handle().state(&over.authority());
    assert_eq!((state, over.peer().calls()), (CircuitState::Open, 2));
    assert_eq!(stood_in_for(&ended), Some(Reason::CircuitOpen));
    let ended = stack.ask(over.to(get())).await;
    assert_eq!(stood_in_for(&ended), Some(Reason::CircuitOpen));
    assert_eq!(over.peer().calls(), 2);
}

async fn a_host_that_asks_for_a_pause_is_not_asked_again<O: Over>() {
    let over = O::start([Does::Tells(429, "retry-after", "3600"), Does::Says(200)]).await;
    let (stack, _) = whole!(over);
    // Longer than the call: its answer comes back at once.
    let ended = stack.ask(over.to(get())).await;
    assert_eq!(reason(&ended), Some(Reason::Deadline));
    assert_eq!(hint(&ended), Some(3600 * SECOND));
    assert_eq!(status(ended), 429);
    let ended = stack.ask(over.to(get())).await;
    assert_eq!(stood_in_for(&ended), Some(Reason::Cooldown));
    assert_eq!(over.peer().calls(), 1);
}

async fn a_body_that_falls_silent_ends_and_gives_everything_back<O: Over>() {
    let over = O::start([Does::FallsSilent, Does::Says(200)]).await;
    let (stack, _) = whole!(over);
    let ended = stack.ask(over.to(get())).await;
    assert_eq!(cut(&ended), Some(Cut::BodyIdle));
    // The one place of the bulkhead is free.
    assert_eq!(status(stack.ask(over.to(get())).await), 200);
}
