use steadfast_admission::fallback::Fallback;
use steadfast_kit::contract::{Inner, Subject, assert_contract};
use steadfast_kit::{Readiness, drop_at_every_await};

use super::*;

struct Falling;

impl Subject for Falling {
    type Sent = Chunks;
    type Answer = FallbackBody<Chunks>;
    type Service = Fallback<Inner<Chunks>, StandIn>;
    type Layer = FallbackLayer<StandIn>;

    fn layer(&self) -> FallbackLayer<StandIn> {
        layer(Reason::ALL).with_answers()
    }

    fn extremes(&self) -> Vec<FallbackLayer<StandIn>> {
        let sets: [&[Reason]; 2] = [&[], &Reason::ALL];
        let layers = sets.map(|set| layer(set.iter().copied()));
        let twice = [Reason::Deadline, Reason::Deadline];
        let with_answers = layers.clone().map(FallbackLayer::with_answers);
        let all = layers.into_iter().chain(with_answers);
        all.chain([layer(twice)]).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn the_fallback_keeps_every_promise_of_a_layer() {
    assert_contract(&Falling).await;
}

#[tokio::test(start_paused = true)]
async fn a_call_dropped_at_any_await_leaves_nothing_behind() {
    let driven = drop_at_every_await(
        || {
            let late = Step::fail(Rejected::new(Reason::CircuitOpen));
            let peer = Peer::script([late.after(Duration::from_secs(1))]);
            let _ = peer.clone().with_readiness([Readiness::Later]);
            let service = layer(Reason::ALL).layer(peer.clone());
            (service.oneshot(Request::new(())), peer)
        },
        |peer, polls| {
            assert_eq!((peer.in_flight(), peer.reserved()), (0, 0), "{polls} polls");
        },
    )
    .await;
    assert!(driven.polls > 1);
    assert_eq!(driven.output.unwrap().status(), 203);
}
