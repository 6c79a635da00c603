//! `HintLayer`, alone.

use std::convert::Infallible;
use std::time::Duration;

use http::{HeaderName, Request, Response};
use steadfast_core::{Hint, Hints, ResetUnit};
use steadfast_kit::{Probe, Readiness, Step, drop_at_every_await};
use steadfast_retry::HintLayer;
use tower::{Layer, Service, ServiceExt, service_fn};

fn answer(status: u16, headers: &[(&str, &str)]) -> Response<()> {
    let mut builder = Response::builder().status(status);
    for (name, value) in headers {
        builder = builder.header(*name, *value);
    }
    builder.body(()).unwrap()
}

async fn hint_of(layer: HintLayer, answer: Response<()>) -> Option<Hint> {
    let peer =
        service_fn(move |_: Request<()>| std::future::ready(Ok::<_, Infallible>(answer.clone())));
    let answer = layer.layer(peer).oneshot(Request::new(())).await.unwrap();
    answer.extensions().get().copied()
}

/// O-06: any of them on a 200 means nothing.
#[tokio::test]
async fn only_a_failed_answer_gets_its_hint() {
    let two = Hint::Wait(Duration::from_secs(2));
    let wait = ("retry-after", "2");
    let stop = ("grpc-retry-pushback-ms", "-1");
    for (status, headers, want) in [
        (200, vec![wait], None),
        (202, vec![wait], None),
        (304, vec![wait], None),
        (429, vec![wait], Some(two)),
        (503, vec![wait], Some(two)),
        (404, vec![wait], Some(two)),
        (503, vec![], None),
        (503, vec![("retry-after", "soon")], Some(Hint::Unreadable)),
        (200, vec![stop], None),
        (200, vec![stop, ("grpc-status", "0")], None),
        (200, vec![stop, ("grpc-status", "14")], Some(Hint::Stop)),
        (202, vec![stop, ("grpc-status", "14")], None),
    ] {
        let got = hint_of(HintLayer::default(), answer(status, &headers)).await;
        assert_eq!(got, want, "{status} with {headers:?}");
    }
}

#[tokio::test]
async fn declared_headers_are_read() {
    let name = HeaderName::from_static("x-ratelimit-reset");
    let layer = HintLayer::new(Hints::default().with_reset(name, ResetUnit::DeltaMilliseconds));
    let busy = answer(429, &[("x-ratelimit-reset", "250")]);
    let want = Hint::Wait(Duration::from_millis(250));
    assert_eq!(hint_of(layer, busy.clone()).await, Some(want));
    assert_eq!(hint_of(HintLayer::default(), busy).await, None);
}

#[tokio::test]
async fn a_success_and_a_failure_without_a_hint_allocate_nothing() {
    for status in [200, 503] {
        let peer = service_fn(move |_: ()| {
            let mut answer = Response::new(());
            *answer.status_mut() = http::StatusCode::from_u16(status).unwrap();
            std::future::ready(Ok::<_, Infallible>(answer))
        });
        let mut service = HintLayer::default().layer(peer);
        let mut call = tokio_test::task::spawn(async { service.ready().await?.call(()).await });
        let told = allocation_counter::measure(|| assert!(call.poll().is_ready()));
        assert_eq!(told.count_total, 0, "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn readiness_and_errors_are_the_inner_services_own() {
    let driven = drop_at_every_await(
        || {
            let script = [Step::fail("reset").after(Duration::from_millis(5))];
            let probe: Probe<(), Response<()>> =
                Probe::script(script).with_readiness([Readiness::Later]);
            let layered = HintLayer::default().layer(probe.clone());
            (layered.oneshot(()), probe)
        },
        |probe, polls| assert_eq!((probe.in_flight(), probe.reserved()), (0, 0), "{polls}"),
    )
    .await;
    assert_eq!(driven.output.unwrap_err().to_string(), "reset");
}
