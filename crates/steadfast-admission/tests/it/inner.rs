//! What a layer was put around can be looked at.

use bytes::Bytes;
use http::Response;
use steadfast_admission::fallback::Fell;
use steadfast_admission::{
    ArrivalsLayer, BreakerLayer, BulkheadLayer, CooldownLayer, FallbackLayer,
};
use tower::Layer;

#[test]
fn every_service_shows_the_one_inside() {
    let fallback = FallbackLayer::new([], |_: &Fell<'_>| Response::new(Bytes::new()));
    assert_eq!(*BreakerLayer::default().layer("inner").get_ref(), "inner");
    assert_eq!(*BulkheadLayer::default().layer("inner").get_ref(), "inner");
    assert_eq!(*CooldownLayer::default().layer("inner").get_ref(), "inner");
    assert_eq!(*ArrivalsLayer::default().layer("inner").get_ref(), "inner");
    assert_eq!(*fallback.layer("inner").get_ref(), "inner");
}
