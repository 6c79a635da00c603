//! The kit's contract suite.

use std::time::Duration;

use steadfast_deadline::{AttemptTimeout, AttemptTimeoutLayer};
use steadfast_kit::Chunks;
use steadfast_kit::contract::{Inner, Subject, assert_contract};

struct Timeout;

impl Subject for Timeout {
    type Sent = Chunks;
    type Answer = Chunks;
    type Service = AttemptTimeout<Inner<Chunks>>;
    type Layer = AttemptTimeoutLayer;

    fn layer(&self) -> AttemptTimeoutLayer {
        AttemptTimeoutLayer::new(Duration::from_secs(1))
    }

    fn extremes(&self) -> Vec<AttemptTimeoutLayer> {
        [Duration::ZERO, Duration::from_nanos(1), Duration::MAX]
            .map(AttemptTimeoutLayer::new)
            .into()
    }
}

#[tokio::test(start_paused = true)]
async fn the_attempt_timeout_keeps_every_promise_of_a_layer() {
    assert_contract(&Timeout).await;
}
