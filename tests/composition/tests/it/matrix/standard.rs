//! The assembled stacks of the facade, client and server.

use std::num::NonZeroU32;
use std::time::Duration;

use steadfast::admission::arrivals::ArrivalsConfig;
use steadfast::admission::bulkhead::BulkheadConfig;
use steadfast::idempotency::client::Routes;
use steadfast::{Backoff, CircuitState, Cut, Jitter, Ratio, Reason, client, server};
use tower::Layer;

use super::over::Over;
use super::{over_each, served_by_each};
use crate::pairs::asked::*;
use crate::pairs::layers::*;
use crate::pairs::peer::Does;

over_each![
    a_standard_client_repeats_with_one_key_and_tells_its_time,
    a_standard_client_leaves_a_peer_alone_that_hangs,
    a_standard_client_gives_everything_back_after_a_silent_body,
];

served_by_each![a_standard_server_refuses_expired_work_and_sends_retries_away];

/// Seconds where a profile has more of them, one place, and two failures open the circuit.
fn standard(over: &impl Over) -> client::StandardLayer {
    let wait = Duration::from_millis(5);
    let backoff = Backoff::default().with_base(wait).with_throttled_base(wait);
    let routes = Routes::new().any_write(&over.authority()).unwrap();
    let two = NonZeroU32::new(2).unwrap();
    let policy = client::Draft::of(client::Profile::InteractiveWrite)
        .with_call_limit(30 * SECOND)
        .with_attempt_timeout(SECOND)
        .with_backoff(backoff.with_cap(wait).with_jitter(Jitter::None))
        .with_key_routes(routes)
        .with_bulkhead(BulkheadConfig::default().with_limit(NonZeroU32::MIN))
        .with_breaker(breaker_config().with_consecutive_failures(two))
        .with_body_timeout(body_timeout(SECOND));
    client::StandardLayer::new(policy.check().unwrap())
}

async fn a_standard_client_repeats_with_one_key_and_tells_its_time<O: Over>() {
    let over = O::start([Does::Says(503), Does::Says(200)]).await;
    let client = standard(&over).layer(over.replayed());
    assert_eq!(status(client.ask(over.to(post())).await), 200);
    let keys = over.peer().told(KEY);
    assert_eq!((keys.len(), keys[0].len()), (2, 38));
    assert_eq!(keys[0], keys[1]);
    for told in over.peer().told(TIME) {
        let told = told.parse::<u64>().unwrap();
        assert!((1..=1_000).contains(&told), "the attempt's: {told}");
    }
}

async fn a_standard_client_leaves_a_peer_alone_that_hangs<O: Over>() {
    let over = O::start([Does::Hangs]).await;
    let layer = standard(&over);
    let client = layer.layer(over.replayed());
    assert!(client.ask(over.to(get())).await.is_err());
    let state = layer.handle().breaker().state(&over.authority());
    assert_eq!((state, over.peer().calls()), (CircuitState::Open, 2));
    let refused = client.ask(over.to(get())).await;
    assert_eq!(reason(&refused), Some(Reason::CircuitOpen));
    assert_eq!(over.peer().calls(), 2);
}

async fn a_standard_client_gives_everything_back_after_a_silent_body<O: Over>() {
    let over = O::start([Does::FallsSilent, Does::Says(200)]).await;
    let layer = standard(&over);
    let client = layer.layer(over.replayed());
    let ended = client.ask(over.to(get())).await;
    assert_eq!(cut(&ended), Some(Cut::BodyIdle));
    assert_eq!(layer.handle().bulkhead().in_flight(&over.authority()), 0);
    assert_eq!(status(client.ask(over.to(get())).await), 200);
}

async fn a_standard_server_refuses_expired_work_and_sends_retries_away<W: super::served::Serves>() {
    use crate::pairs::server::{Count, again, charge, is_sent_away, with};
    let share = ArrivalsConfig::new().with_share(Ratio::percent(50).unwrap());
    let policy = server::Draft::new()
        .with_maximum(60 * SECOND)
        .with_arrivals(share.with_minimum(NonZeroU32::new(2).unwrap()));
    let layer = server::StandardLayer::new(policy.check().unwrap());
    let runs = Count::default();
    let app = W::start(layer, super::server::knows_its_deadline(&runs)).await;
    // An expired retry counts for nothing.
    for _ in 0..3 {
        let expired = app.ask(again(with(TIME, "0", charge("k-1")))).await;
        assert_eq!((expired.status().as_u16(), runs.get()), (504, 0));
    }
    assert_eq!(app.ask(charge("k-1")).await.status(), 200, "the maximum");
    assert_eq!(app.ask(again(charge("k-1"))).await.status(), 200);
    assert!(is_sent_away(&app.ask(again(charge("k-1"))).await));
    assert_eq!(runs.get(), 2);
}
