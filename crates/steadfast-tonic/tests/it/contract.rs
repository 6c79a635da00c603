//! The kit's contract suite. `StatusLayer` is not here: to make an error of an answer that is no
//! gRPC, as all of the kit's are, is its work.

use std::sync::Arc;

use steadfast_kit::Chunks;
use steadfast_kit::contract::{Inner, Subject, assert_contract};
use steadfast_tonic::*;
use tonic::body::Body;

struct ANamedDestination;

impl Subject for ANamedDestination {
    type Sent = Chunks;
    type Answer = Chunks;
    type Service = NamedDestination<Inner<Chunks>>;
    type Layer = DestinationLayer;

    fn layer(&self) -> DestinationLayer {
        DestinationLayer::new("greeter.example")
    }
}

struct AServiceConfig;

impl Subject for AServiceConfig {
    type Sent = Chunks;
    type Answer = Chunks;
    type Service = WithServiceConfig<Inner<Chunks>>;
    type Layer = ServiceConfigLayer;

    fn layer(&self) -> ServiceConfigLayer {
        let policy = crate::peer::policy(3, "14", "");
        ServiceConfigLayer::new(Arc::new(ServiceConfig::from_json(&policy).unwrap()))
    }
}

struct OverALeaf;

impl Subject for OverALeaf {
    type Sent = Body;
    type Answer = Chunks;
    type Service = Leaf<Inner<Body>>;
    type Layer = LeafLayer;

    fn layer(&self) -> LeafLayer {
        LeafLayer::new()
    }
}

#[tokio::test(start_paused = true)]
async fn a_destination_layer_keeps_every_promise() {
    assert_contract(&ANamedDestination).await;
}

#[tokio::test(start_paused = true)]
async fn a_service_config_layer_keeps_every_promise() {
    assert_contract(&AServiceConfig).await;
}

#[tokio::test(start_paused = true)]
async fn the_leaf_keeps_every_promise() {
    assert_contract(&OverALeaf).await;
}
