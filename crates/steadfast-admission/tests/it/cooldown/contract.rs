use std::num::NonZeroU32;

use steadfast_admission::{Mode, Scope};
use steadfast_kit::contract::{Inner, Subject, assert_contract};
use steadfast_kit::{Chunks, Readiness, drop_at_every_await};
use tower::Service;
use tower::limit::ConcurrencyLimit;

use super::*;

struct Cooling;

impl Subject for Cooling {
    type Sent = Chunks;
    type Answer = Chunks;
    type Service = Cooldown<Inner<Chunks>>;
    type Layer = CooldownLayer;

    fn layer(&self) -> CooldownLayer {
        CooldownLayer::default()
    }

    fn extremes(&self) -> Vec<CooldownLayer> {
        let all = (100..1000).map(|status| StatusCode::from_u16(status).unwrap());
        let all: Vec<_> = all.collect();
        let mut layers = Vec::new();
        for max in [Duration::ZERO, Duration::from_nanos(1), Duration::MAX] {
            for scope in [Scope::Destination, Scope::Layer] {
                let config = CooldownConfig::new().with_max(max).with_scope(scope);
                let config = config.with_statuses(all.clone());
                let config = config.with_max_keys(NonZeroU32::MIN);
                layers.push(CooldownLayer::new(config));
            }
        }
        let closed = CooldownLayer::default();
        closed.handle().cool("contract.example", Duration::MAX);
        let shadow = CooldownConfig::new().with_mode(Mode::Shadow);
        let shadow = CooldownLayer::new(shadow.with_statuses([]));
        shadow.handle().cool("contract.example", Duration::MAX);
        layers.extend([closed, shadow]);
        layers
    }
}

#[tokio::test(start_paused = true)]
async fn the_cooldown_keeps_every_promise_of_a_layer() {
    assert_contract(&Cooling).await;
}

#[tokio::test(start_paused = true)]
async fn a_call_dropped_at_any_await_leaves_nothing_behind() {
    let layer = CooldownLayer::default();
    let driven = drop_at_every_await(
        || {
            let late = told(429, "2").after(SECOND);
            let (service, peer) = around(&layer, [late]);
            let _ = peer.clone().with_readiness([Readiness::Later]);
            (service.oneshot(get("a.example")), peer)
        },
        |peer, polls| {
            assert_eq!((peer.in_flight(), peer.reserved()), (0, 0), "{polls} polls");
            let left = layer.handle().remaining("a.example");
            assert!(left.is_none() || peer.cancelled() == 0, "{polls} polls");
        },
    )
    .await;
    assert_eq!(driven.output.unwrap().status(), 429);
    assert!(driven.polls > 1);
    assert!(layer.handle().remaining("a.example").is_some());
}

#[tokio::test(start_paused = true)]
async fn readiness_is_the_inner_services_own_also_during_a_pause() {
    let (mut service, peer) = over([]);
    let layer = CooldownLayer::default();
    layer.handle().cool("a.example", SECOND);
    let _ = peer.clone().with_readiness([Readiness::fail("not ready")]);
    let error = service.ready().await.unwrap_err();
    assert_eq!(error.to_string(), "not ready");
    let (mut service, peer) = around(&layer, []);
    assert!(service.ready().await.is_ok());
    assert_eq!(peer.reserved(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_refused_caller_gives_its_reservation_to_others() {
    let peer = Peer::script([ok()]);
    let one_at_a_time = ConcurrencyLimit::new(peer.clone(), 1);
    let layer = CooldownLayer::default();
    layer.handle().cool("a.example", SECOND);
    let mut refused = layer.layer(one_at_a_time.clone());
    assert!(
        refused
            .ready()
            .await
            .unwrap()
            .call(get("a.example"))
            .await
            .is_err()
    );
    // Its owner keeps it, and somebody else is served.
    let other = layer.layer(one_at_a_time).oneshot(get("b.example"));
    let served = tokio::time::timeout(SECOND, other).await;
    assert!(served.expect("a place was free").is_ok());
    assert_eq!(peer.calls(), 1);
    drop(refused);
}
