//! The kit's contract suite.

use steadfast_deadline::server::{InboundDeadline, InboundDeadlineLayer, Mode, ResponseBody};
use steadfast_kit::Chunks;
use steadfast_kit::contract::{Inner, Subject, assert_contract};

use super::*;

/// By the media type of its requests.
struct Inbound(&'static str);

impl Subject for Inbound {
    type Sent = Chunks;
    type Answer = ResponseBody<Chunks>;
    type Service = InboundDeadline<Inner<Chunks>>;
    type Layer = InboundDeadlineLayer;

    fn layer(&self) -> InboundDeadlineLayer {
        let config = InboundConfig::new().with_maximum(Duration::from_secs(100_000));
        InboundDeadlineLayer::new(config)
    }

    fn request(&self, body: Chunks) -> Request<Chunks> {
        Request::post("http://contract.example/")
            .header("content-type", self.0)
            .header("grpc-timeout", "90000S")
            .header(ENVOY, "90000000")
            .body(body)
            .unwrap()
    }

    fn extremes(&self) -> Vec<InboundDeadlineLayer> {
        let times = [Duration::ZERO, Duration::from_nanos(1), Duration::MAX];
        let mut layers = Vec::new();
        for maximum in times {
            for margin in times {
                for mode in [Mode::Enforce, Mode::Measure] {
                    let config = InboundConfig::new().with_maximum(maximum).with_mode(mode);
                    let config = config.with_answer_margin(margin);
                    layers.push(InboundDeadlineLayer::new(config));
                }
            }
        }
        layers
    }
}

#[tokio::test(start_paused = true)]
async fn the_inbound_deadline_keeps_every_promise_of_a_layer() {
    assert_contract(&Inbound("text/plain")).await;
}

#[tokio::test(start_paused = true)]
async fn a_grpc_deadline_keeps_every_promise_of_a_layer() {
    assert_contract(&Inbound("application/grpc")).await;
}
