use std::sync::atomic::Ordering;

use http::Request;
use steadfast_core::budget::{Ending, Sending};
use steadfast_kit::Probe;
use steadfast_retry::{AttemptMark, BudgetLayer, CountAttemptsLayer};
use tower::{Layer, ServiceExt, service_fn};

use super::{Peer, Told, get, status, watched};

#[derive(Debug, PartialEq)]
enum Passed {
    First,
    Later,
    Unmarked,
}

/// How a request with this mark is seen by a layer that goes by it.
async fn seen(mark: AttemptMark, header: Option<(&'static str, &'static str)>) -> Passed {
    let told = Told::default();
    let (layer, unmarked) = watched(told.clone());
    let peer: Peer = Probe::script([status(200)]);
    let mut request = get();
    if let Some((name, value)) = header {
        request.headers_mut().insert(name, value.parse().unwrap());
    }
    let service = layer.with_mark(mark).layer(peer.clone());
    service.oneshot(request).await.unwrap();
    assert_eq!(peer.calls(), 1, "it passes in any case");
    match (told.calls(), told.outcomes().as_slice()) {
        (1, [(Sending::First, Ending::Success)]) => Passed::First,
        (0, [(Sending::Retry, Ending::Success)]) => Passed::Later,
        (0, []) => {
            assert_eq!(unmarked.load(Ordering::Relaxed), 1);
            Passed::Unmarked
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn each_header_tells_first_from_later_attempts() {
    use AttemptMark::*;
    use Passed::*;
    let envoy = |value| Some(("x-envoy-attempt-count", value));
    let grpc = |value| Some(("grpc-previous-rpc-attempts", value));
    let amz = |value| Some(("amz-sdk-request", value));
    for (mark, header, want) in [
        (EnvoyAttemptCount, envoy("1"), First),
        (EnvoyAttemptCount, envoy("2"), Later),
        (EnvoyAttemptCount, envoy("0"), Unmarked),
        (EnvoyAttemptCount, envoy("two"), Unmarked),
        (EnvoyAttemptCount, None, Unmarked),
        (EnvoyAttemptCount, grpc("1"), Unmarked),
        (GrpcPreviousAttempts, None, First),
        (GrpcPreviousAttempts, grpc("0"), First),
        (GrpcPreviousAttempts, grpc("1"), Later),
        (GrpcPreviousAttempts, grpc("4294967295"), Later),
        (GrpcPreviousAttempts, grpc("-1"), Unmarked),
        (AmzSdkRequest, amz("attempt=1"), First),
        (AmzSdkRequest, amz("attempt=1; max=3"), First),
        (
            AmzSdkRequest,
            amz("ttl=20261130T214052Z; attempt=2; max=3"),
            Later,
        ),
        (
            AmzSdkRequest,
            amz("ttl=20261130T214052Z;ATTEMPT = 3"),
            Later,
        ),
        (AmzSdkRequest, amz("max=3"), Unmarked),
        (AmzSdkRequest, amz("attempt=x; max=3"), Unmarked),
        (AmzSdkRequest, None, Unmarked),
        (Counter, None, Unmarked),
        (Counter, envoy("2"), Unmarked),
    ] {
        assert_eq!(seen(mark, header).await, want, "{mark:?}: {header:?}");
    }
}

#[test]
fn the_counter_is_the_default_mark() {
    let layer = BudgetLayer::new(Told::default());
    assert_eq!(layer.mark(), AttemptMark::Counter);
}

#[tokio::test]
async fn each_call_gets_a_counter_of_its_own_even_if_its_request_was_cloned_from_a_marked_one() {
    let told = Told::default();
    let (layer, unmarked) = watched(told.clone());
    let inner = layer.layer(Probe::script((0..3).map(|_| status(200))));
    let marked = std::sync::Mutex::new(None);
    let outer = CountAttemptsLayer::new().layer(service_fn(|request: Request<()>| {
        *marked.lock().unwrap() = Some(request.clone());
        inner.clone().oneshot(request)
    }));
    outer.clone().oneshot(get()).await.unwrap();
    let again = marked.lock().unwrap().take().unwrap();
    // The same mark below the loop is another attempt, above it another call.
    inner.clone().oneshot(again.clone()).await.unwrap();
    outer.oneshot(again).await.unwrap();
    let sendings: Vec<_> = told.outcomes().into_iter().map(|(sent, _)| sent).collect();
    assert_eq!(sendings, [Sending::First, Sending::Retry, Sending::First]);
    assert_eq!(told.calls(), 2);
    assert_eq!(unmarked.load(Ordering::Relaxed), 0);
}
