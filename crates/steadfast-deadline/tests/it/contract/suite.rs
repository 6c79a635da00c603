//! The kit's contract suite.

use std::time::Duration;

use steadfast_deadline::{
    AttemptTimeout, AttemptTimeoutLayer, BodyTimeout, BodyTimeoutLayer, CallLimit, CallLimitLayer,
    Propagate, PropagateConfig, PropagateLayer, TimedBody,
};
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

struct Limit;

impl Subject for Limit {
    type Sent = Chunks;
    type Answer = Chunks;
    type Service = CallLimit<Inner<Chunks>>;
    type Layer = CallLimitLayer;

    fn layer(&self) -> CallLimitLayer {
        CallLimitLayer::new(Duration::from_secs(1))
    }

    fn extremes(&self) -> Vec<CallLimitLayer> {
        [Duration::ZERO, Duration::from_nanos(1), Duration::MAX]
            .map(CallLimitLayer::new)
            .into()
    }
}

#[tokio::test(start_paused = true)]
async fn the_call_limit_keeps_every_promise_of_a_layer() {
    assert_contract(&Limit).await;
}

struct Bodies;

impl Subject for Bodies {
    type Sent = Chunks;
    type Answer = TimedBody<Chunks>;
    type Service = BodyTimeout<Inner<Chunks>>;
    type Layer = BodyTimeoutLayer;

    fn layer(&self) -> BodyTimeoutLayer {
        BodyTimeoutLayer::default().with_total(Duration::from_secs(60))
    }

    fn extremes(&self) -> Vec<BodyTimeoutLayer> {
        let layer = BodyTimeoutLayer::default();
        [Duration::ZERO, Duration::from_nanos(1), Duration::MAX]
            .map(|limit| layer.with_idle(limit).with_total(limit))
            .into()
    }
}

#[tokio::test(start_paused = true)]
async fn the_body_timeout_keeps_every_promise_of_a_layer() {
    assert_contract(&Bodies).await;
}

struct Telling;

impl Subject for Telling {
    type Sent = Chunks;
    type Answer = Chunks;
    type Service = Propagate<Inner<Chunks>>;
    type Layer = PropagateLayer;

    fn layer(&self) -> PropagateLayer {
        PropagateLayer::default()
    }

    fn request(&self, body: Chunks) -> http::Request<Chunks> {
        let (mut head, ()) = crate::due(crate::in_time(Duration::from_secs(60))).into_parts();
        head.uri = http::Uri::from_static("http://contract.example/");
        http::Request::from_parts(head, body)
    }

    fn extremes(&self) -> Vec<PropagateLayer> {
        [Duration::ZERO, Duration::MAX]
            .map(|margin| PropagateLayer::new(PropagateConfig::default().with_margin(margin)))
            .into()
    }
}

#[tokio::test(start_paused = true)]
async fn propagation_keeps_every_promise_of_a_layer() {
    assert_contract(&Telling).await;
}
