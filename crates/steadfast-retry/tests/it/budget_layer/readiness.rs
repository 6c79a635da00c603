use std::time::Duration;

use http::Request;
use steadfast_core::budget::RatioBudget;
use steadfast_core::{Ratio, Reason};
use steadfast_kit::{Probe, Readiness};
use steadfast_retry::{AttemptMark, BudgetLayer};
use tower::{Layer, Service, ServiceExt};

use super::{Peer, get, refusal, status};

fn later() -> Request<()> {
    let mut request = get();
    let value = http::HeaderValue::from_static("1");
    request
        .headers_mut()
        .insert("grpc-previous-rpc-attempts", value);
    request
}

#[tokio::test]
async fn a_refused_attempt_does_not_reach_the_inner_service_whose_readiness_waits_for_the_next() {
    let peer: Peer = Probe::script([status(200)]);
    let layer = BudgetLayer::new(RatioBudget::new(Ratio::ZERO));
    let mut service = layer
        .with_mark(AttemptMark::GrpcPreviousAttempts)
        .layer(peer.clone());
    let answered = service.ready().await.unwrap().call(later()).await;
    assert_eq!(refusal(answered), Some(Reason::BudgetExhausted));
    assert_eq!((peer.calls(), peer.reserved()), (0, 1));
    service.ready().await.unwrap().call(get()).await.unwrap();
    assert_eq!((peer.calls(), peer.reserved()), (1, 0));
    drop(service);
    assert_eq!(peer.reserved(), 0);
}

#[tokio::test(start_paused = true)]
async fn readiness_is_the_inner_services_own() {
    let peer: Peer = Probe::script([status(200)]).with_readiness([
        Readiness::After(Duration::from_secs(1)),
        Readiness::fail("shut"),
    ]);
    let service = BudgetLayer::new(RatioBudget::default()).layer(peer.clone());
    let started = tokio::time::Instant::now();
    service.clone().oneshot(get()).await.unwrap();
    assert_eq!(started.elapsed(), Duration::from_secs(1));
    let error = service.oneshot(get()).await.unwrap_err();
    assert_eq!(error.to_string(), "shut");
}
