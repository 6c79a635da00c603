use std::num::NonZeroU32;

use steadfast_admission::Scope;
use tokio::time::advance;

use super::*;

#[tokio::test(start_paused = true)]
async fn what_is_left_can_be_looked_at() {
    let layer = CooldownLayer::default();
    let handle = layer.handle();
    let (service, _) = around(&layer, [told(429, "2")]);
    assert_eq!(handle.remaining("a.example"), None);
    call(&service, "a.example").await.unwrap();
    advance(SECOND).await;
    assert_eq!(handle.remaining("a.example"), Some(SECOND));
    assert_eq!(handle.remaining("A.Example"), Some(SECOND));
    assert_eq!(handle.remaining("b.example"), None);
    advance(SECOND).await;
    assert_eq!(handle.remaining("a.example"), None);
}

#[tokio::test(start_paused = true)]
async fn a_pause_by_hand_is_kept_and_not_cut() {
    let layer = CooldownLayer::default();
    let (service, peer) = around(&layer, [ok()]);
    layer.handle().cool("A.example", 3600 * SECOND);
    assert_eq!(refused(&service, "a.example").await, Some(3600 * SECOND));
    layer.handle().cool("a.example", SECOND);
    layer.handle().cool("a.example", Duration::ZERO);
    assert_eq!(refused(&service, "a.example").await, Some(3600 * SECOND));
    assert_eq!(peer.calls(), 0);
    advance(3600 * SECOND).await;
    assert!(call(&service, "a.example").await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_pause_is_ended_by_hand_whoever_asked_for_it() {
    let layer = CooldownLayer::default();
    let (service, _) = around(&layer, [told(429, "9"), ok(), told(429, "9")]);
    call(&service, "a.example").await.unwrap();
    layer.handle().clear("A.EXAMPLE");
    assert!(call(&service, "a.example").await.is_ok());
    layer.handle().cool("a.example", Duration::MAX);
    advance(1_000_000 * SECOND).await;
    assert!(refused(&service, "a.example").await.is_some());
    layer.handle().clear("a.example");
    call(&service, "a.example").await.unwrap();
    assert_eq!(refused(&service, "a.example").await, Some(9 * SECOND));
}

#[tokio::test(start_paused = true)]
async fn a_pause_by_hand_outlives_that_its_destination_is_forgotten() {
    let config = CooldownConfig::new().with_max_keys(NonZeroU32::MIN);
    let layer = CooldownLayer::new(config);
    let steps = [ok(), ok(), ok()];
    let (service, _) = around(&layer, steps);
    layer.handle().cool("a.example", 3600 * SECOND);
    layer.handle().cool("b.example", SECOND);
    assert!(call(&service, "c.example").await.is_ok());
    assert_eq!(refused(&service, "a.example").await, Some(3600 * SECOND));
    assert_eq!(refused(&service, "b.example").await, Some(SECOND));
    advance(3000 * SECOND).await;
    assert_eq!(refused(&service, "a.example").await, Some(600 * SECOND));
    layer.handle().clear("a.example");
    assert!(call(&service, "b.example").await.is_ok());
    assert!(call(&service, "a.example").await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn with_one_pause_for_the_layer_the_name_does_not_matter() {
    let layer = CooldownLayer::new(CooldownConfig::new().with_scope(Scope::Layer));
    let (service, _) = around(&layer, [ok()]);
    layer.handle().cool("a.example", SECOND);
    assert_eq!(layer.handle().remaining("b.example"), Some(SECOND));
    assert_eq!(refused(&service, "c.example").await, Some(SECOND));
    layer.handle().clear("d.example");
    assert!(call(&service, "e.example").await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn to_ask_for_a_pause_and_to_end_one_that_is_not_forgets_none() {
    let config = CooldownConfig::new().with_max_keys(NonZeroU32::MIN);
    let layer = CooldownLayer::new(config);
    let (service, _) = around(&layer, [told(429, "9")]);
    call(&service, "a.example").await.unwrap();
    for nth in 0..100 {
        let other = format!("{nth}.example");
        assert_eq!(layer.handle().remaining(&other), None);
        layer.handle().clear(&other);
    }
    assert_eq!(layer.handle().remaining("a.example"), Some(9 * SECOND));
}
