use steadfast_admission::{Mode, Scope};
use tokio::time::advance;

use super::*;
use crate::MS;

#[tokio::test(start_paused = true)]
async fn an_observer_is_told_of_each_pause_and_of_each_refusal() {
    let log = Log::default();
    let layer = CooldownLayer::new(log.observed(CooldownConfig::new()));
    let (service, _) = around(&layer, [told(429, "2"), ok()]);
    call(&service, "u:p@a.example").await.unwrap();
    assert_eq!(log.lines(), ["a.example 429 Too Many Requests for 2s"]);
    advance(500 * MS).await;
    refused(&service, "a.example").await.unwrap();
    refused(&service, "a.example").await.unwrap();
    assert_eq!(log.lines(), ["a.example cooldown Some(1.5s) true"; 2]);
    advance(2 * SECOND).await;
    call(&service, "a.example").await.unwrap();
    assert!(log.lines().is_empty());
}

#[tokio::test(start_paused = true)]
async fn in_shadow_mode_all_calls_pass_and_the_observer_knows_which_would_not_have() {
    let log = Log::default();
    let config = CooldownConfig::new().with_mode(Mode::Shadow);
    let layer = CooldownLayer::new(log.observed(config));
    let steps = [told(429, "2"), told(429, "1"), told(429, "90"), ok()];
    let (service, peer) = around(&layer, steps);
    for _ in 0..4 {
        assert!(call(&service, "a.example").await.is_ok());
    }
    assert_eq!(peer.calls(), 4);
    assert_eq!(
        log.lines(),
        [
            "a.example 429 Too Many Requests for 2s",
            "a.example cooldown Some(2s) false",
            // One that ends earlier changes nothing, and is no event.
            "a.example cooldown Some(2s) false",
            "a.example 429 Too Many Requests for 60s",
            "a.example cooldown Some(60s) false",
        ]
    );
    assert_eq!(layer.handle().remaining("a.example"), Some(60 * SECOND));
}

#[tokio::test(start_paused = true)]
async fn an_event_names_the_destination_also_where_all_share_one_pause() {
    let log = Log::default();
    let config = CooldownConfig::new().with_scope(Scope::Layer);
    let layer = CooldownLayer::new(log.observed(config));
    let (service, _) = around(&layer, [told(429, "2")]);
    call(&service, "a.example").await.unwrap();
    refused(&service, "b.example").await.unwrap();
    assert_eq!(
        log.lines(),
        [
            "a.example 429 Too Many Requests for 2s",
            "b.example cooldown Some(2s) true",
        ]
    );
}
