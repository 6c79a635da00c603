//! Another config over pauses that are on.

use std::num::NonZeroU32;

use steadfast_admission::Scope;
use tokio::time::advance;

use super::*;

fn both_scopes() -> [CooldownConfig; 2] {
    [Scope::Destination, Scope::Layer].map(|scope| CooldownConfig::new().with_scope(scope))
}

#[tokio::test(start_paused = true)]
async fn a_pause_stays_also_where_the_longest_is_shorter_now() {
    for config in both_scopes() {
        let layer = CooldownLayer::new(config.clone().with_max(3600 * SECOND));
        let (service, peer) = around(&layer, [told(429, "3600"), ok()]);
        call(&service, "a.example").await.unwrap();
        let layer = layer.reconfigured(config.with_max(SECOND));
        let service = layer.layer(peer.clone());
        // Longer than what the new config remembers a destination for.
        advance(3000 * SECOND).await;
        assert_eq!(refused(&service, "a.example").await, Some(600 * SECOND));
        advance(600 * SECOND).await;
        assert!(call(&service, "a.example").await.is_ok());
    }
}

#[tokio::test(start_paused = true)]
async fn what_comes_after_is_cut_by_the_new_config() {
    for config in both_scopes() {
        let layer = CooldownLayer::new(config.clone());
        let layer = layer.reconfigured(config.with_max(2 * SECOND));
        let (service, _) = around(&layer, [told(429, "30")]);
        call(&service, "a.example").await.unwrap();
        assert_eq!(refused(&service, "a.example").await, Some(2 * SECOND));
    }
}

/// It was sent through the layer before and its answer is heard by that one's config.
#[tokio::test(start_paused = true)]
async fn an_answer_that_comes_after_the_reload_is_heard_by_all() {
    for config in both_scopes() {
        let layer = CooldownLayer::new(config.clone());
        let (service, _) = around(&layer, [told(429, "30").after(SECOND)]);
        let mut late = tokio_test::task::spawn(service.clone().oneshot(get("a.example")));
        assert!(late.poll().is_pending());
        let next = layer.reconfigured(config.with_max(2 * SECOND));
        let (after, _) = around(&next, []);
        assert_eq!(late.await.unwrap().status(), 429);
        assert_eq!(refused(&after, "a.example").await, Some(30 * SECOND));
        assert_eq!(next.handle().remaining("a.example"), Some(30 * SECOND));
    }
}

#[tokio::test(start_paused = true)]
async fn a_pause_by_hand_is_kept_and_ended_by_the_handle_of_either_layer() {
    for config in both_scopes() {
        let layer = CooldownLayer::new(config.clone());
        layer.handle().cool("a.example", 3600 * SECOND);
        let next = layer.reconfigured(config.with_max_keys(NonZeroU32::MIN));
        let (service, _) = around(&next, [ok()]);
        assert_eq!(refused(&service, "a.example").await, Some(3600 * SECOND));
        layer.handle().clear("a.example");
        assert!(call(&service, "a.example").await.is_ok());
    }
}

#[tokio::test(start_paused = true)]
async fn a_config_of_another_scope_starts_anew() {
    let [by_destination, for_all] = both_scopes();
    let layer = CooldownLayer::new(by_destination);
    layer.handle().cool("a.example", SECOND);
    let next = layer.reconfigured(for_all);
    assert_eq!(next.handle().remaining("a.example"), None);
    assert_eq!(layer.handle().remaining("a.example"), Some(SECOND));
}
