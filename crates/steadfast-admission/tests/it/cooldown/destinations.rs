use std::num::NonZeroU32;

use http::header;
use steadfast_admission::Scope;
use steadfast_core::CallState;
use tokio::time::advance;

use super::*;

#[tokio::test(start_paused = true)]
async fn one_callers_hint_stops_every_other_caller_to_that_host_and_to_no_other() {
    let layer = CooldownLayer::default();
    let (one, peer) = around(&layer, [told(429, "2"), ok(), ok()]);
    let other = layer.clone().layer(peer.clone());
    call(&one, "a.example").await.unwrap();
    for caller in [&one, &one.clone(), &other] {
        assert_eq!(refused(caller, "a.example").await, Some(2 * SECOND));
        assert_eq!(refused(caller, "A.EXAMPLE").await, Some(2 * SECOND));
    }
    assert!(call(&one, "b.example").await.is_ok());
    assert!(call(&one, "a.example:8443").await.is_ok());
    assert_eq!(peer.calls(), 3);
}

#[tokio::test(start_paused = true)]
async fn layers_of_one_config_share_nothing() {
    let config = CooldownConfig::new();
    let (one, _) = around(&CooldownLayer::new(config.clone()), [told(429, "2")]);
    let (other, _) = around(&CooldownLayer::new(config), [ok()]);
    call(&one, "a.example").await.unwrap();
    assert!(call(&other, "a.example").await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_host_is_known_by_any_of_its_names() {
    let by_header = || {
        let request = Request::get("/").header(header::HOST, "a.example");
        request.body(()).unwrap()
    };
    let by_adapter = || {
        let mut request = Request::get("/").body(()).unwrap();
        CallState::edit(request.extensions_mut(), |state| {
            state.set_destination("a.example");
        });
        request
    };
    let with_userinfo = || {
        let request = Request::get("http://user:password@a.example/");
        request.body(()).unwrap()
    };
    let makers: [&dyn Fn() -> Request<()>; 4] = [
        &|| get("a.example"),
        &by_header,
        &by_adapter,
        &with_userinfo,
    ];
    for first in makers {
        let (service, _) = over([told(429, "2")]);
        service.clone().oneshot(first()).await.unwrap();
        for later in makers {
            assert!(service.clone().oneshot(later()).await.is_err());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn calls_without_a_destination_share_one_pause() {
    let nameless = || Request::get("/").body(()).unwrap();
    let (service, _) = over([told(429, "2"), ok()]);
    service.clone().oneshot(nameless()).await.unwrap();
    assert!(service.clone().oneshot(nameless()).await.is_err());
    assert!(call(&service, "a.example").await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn with_one_pause_for_the_layer_one_hosts_word_stops_all() {
    let config = CooldownConfig::new().with_scope(Scope::Layer);
    let (service, _) = around(&CooldownLayer::new(config), [told(429, "2"), ok()]);
    call(&service, "a.example").await.unwrap();
    assert_eq!(refused(&service, "b.example").await, Some(2 * SECOND));
    advance(2 * SECOND).await;
    assert!(call(&service, "b.example").await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn memory_is_bounded_and_the_destination_used_last_is_kept() {
    let config = CooldownConfig::new().with_max_keys(NonZeroU32::MIN);
    let steps = [told(429, "9"), ok(), ok()];
    let (service, _) = around(&CooldownLayer::new(config), steps);
    call(&service, "a.example").await.unwrap();
    assert!(refused(&service, "a.example").await.is_some());
    assert!(call(&service, "b.example").await.is_ok());
    assert!(
        call(&service, "a.example").await.is_ok(),
        "it was forgotten"
    );
}

#[tokio::test(start_paused = true)]
async fn a_long_pause_is_not_forgotten_while_nobody_calls() {
    let config = CooldownConfig::new().with_max(3600 * SECOND);
    let steps = [told(429, "3600"), ok()];
    let (service, _) = around(&CooldownLayer::new(config), steps);
    call(&service, "a.example").await.unwrap();
    advance(3000 * SECOND).await;
    assert!(call(&service, "b.example").await.is_ok());
    assert_eq!(refused(&service, "a.example").await, Some(600 * SECOND));
}
