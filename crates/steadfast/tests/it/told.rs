//! One observer hears all layers.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use steadfast::Event;
use steadfast::client::StandardLayer;
use tower::{Layer, ServiceExt};

use crate::client::{get, scripted, status};

#[tokio::test(start_paused = true)]
async fn one_observer_is_told_by_retry_breaker_bulkhead_and_cooldown() {
    let heard = Arc::new(Mutex::new(BTreeSet::new()));
    let hear = heard.clone();
    let layer = StandardLayer::default().with_observer(move |event: &Event<'_>| {
        hear.lock().unwrap().insert(match event {
            Event::Attempted(_) => "attempted",
            Event::Ended(_) => "ended",
            Event::CircuitChanged(_) => "circuit changed",
            Event::AdmissionRefused(_) => "refused",
            Event::CooldownBegan(_) => "cooldown began",
            _ => "other",
        });
    });
    let client = layer.layer(scripted(|_, request| match request.uri().host() {
        Some("busy.example") => {
            let mut busy = status(429).unwrap();
            let after = http::HeaderValue::from_static("5");
            busy.headers_mut().insert("retry-after", after);
            Ok(busy)
        }
        _ => status(500),
    }));
    for _ in 0..20 {
        let _ = client.clone().oneshot(get("http://a.example/")).await;
    }
    let _ = client.clone().oneshot(get("http://busy.example/")).await;
    let all = [
        "attempted",
        "circuit changed",
        "cooldown began",
        "ended",
        "refused",
    ];
    assert_eq!(*heard.lock().unwrap(), BTreeSet::from(all));
}
