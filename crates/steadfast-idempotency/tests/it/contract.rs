//! The kit's contract suite on the client's key layer.

use std::time::Duration;

use http::{Method, Request};
use steadfast_idempotency::client::{KeyConfig, KeyLayer, Routes, WithKey};
use steadfast_kit::Chunks;
use steadfast_kit::contract::{Inner, Subject, assert_contract};

/// Calls on a declared route, and elsewhere.
struct Keys {
    path: &'static str,
}

fn config() -> KeyConfig {
    KeyConfig::new(Routes::new().post("contract.example", "/charges").unwrap())
}

impl Subject for Keys {
    type Sent = Chunks;
    type Answer = Chunks;
    type Service = WithKey<Inner<Chunks>>;
    type Layer = KeyLayer;

    fn layer(&self) -> KeyLayer {
        KeyLayer::new(config())
    }

    fn request(&self, body: Chunks) -> Request<Chunks> {
        let uri = format!("http://contract.example{}", self.path);
        Request::builder()
            .method(Method::POST)
            .uri(uri)
            .body(body)
            .unwrap()
    }

    fn extremes(&self) -> Vec<KeyLayer> {
        [Duration::ZERO, Duration::MAX]
            .map(|lifetime| KeyLayer::new(config().with_lifetime(lifetime)))
            .into()
    }
}

#[tokio::test(start_paused = true)]
async fn the_key_layer_keeps_every_promise_of_a_layer() {
    assert_contract(&Keys { path: "/charges" }).await;
    assert_contract(&Keys { path: "/elsewhere" }).await;
}
