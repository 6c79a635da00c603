//! The kit's contract suite.

use steadfast_hyper::{Leaf, LeafBody, LeafLayer};
use steadfast_kit::Chunks;
use steadfast_kit::contract::{Inner, Subject, assert_contract};

struct OverALeaf;

impl Subject for OverALeaf {
    type Sent = LeafBody;
    type Answer = Chunks;
    type Service = Leaf<Inner<LeafBody>>;
    type Layer = LeafLayer;

    fn layer(&self) -> LeafLayer {
        LeafLayer::new()
    }
}

#[tokio::test(start_paused = true)]
async fn the_leaf_keeps_every_promise_of_a_layer() {
    assert_contract(&OverALeaf).await;
}
