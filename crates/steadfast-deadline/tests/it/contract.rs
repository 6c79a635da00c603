use std::io;
use std::time::Duration;

use http::Request;
use steadfast_deadline::{AttemptTimeout, AttemptTimeoutLayer, ResponseFuture};
use steadfast_kit::{Probe, Readiness, Step, drop_at_every_await};
use tokio_test::{assert_pending, assert_ready_err, assert_ready_ok, task};
use tower::{Layer, Service, ServiceExt};

use crate::MS;

mod suite;

#[tokio::test(start_paused = true)]
async fn readiness_is_the_inner_services() {
    let probe = Probe::<Request<()>, ()>::script([Step::answer(())])
        .with_readiness([Readiness::After(10 * MS), Readiness::fail("closed")]);
    let mut service = task::spawn(AttemptTimeout::new(probe.clone(), MS));
    assert_pending!(service.enter(|cx, mut service| service.poll_ready(cx)));
    tokio::time::sleep(20 * MS).await;
    assert!(service.is_woken());
    assert_ready_ok!(service.enter(|cx, mut service| service.poll_ready(cx)));
    assert_eq!(probe.reserved(), 1);
    service
        .enter(|_, mut service| service.call(Request::new(())))
        .await
        .unwrap();
    assert_eq!(probe.reserved(), 0);
    let error = assert_ready_err!(service.enter(|cx, mut service| service.poll_ready(cx)));
    assert_eq!(error.to_string(), "closed");
}

#[tokio::test(start_paused = true)]
async fn a_refused_call_leaves_the_reservation_where_it_was() {
    let probe = Probe::<Request<()>, ()>::script([Step::answer(())]);
    let mut service = AttemptTimeout::new(probe.clone(), Duration::ZERO);
    service
        .ready()
        .await
        .unwrap()
        .call(Request::new(()))
        .await
        .unwrap_err();
    assert_eq!((probe.calls(), probe.reserved()), (0, 1));
    drop(service);
    assert_eq!(probe.reserved(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_inner_error_passes_unchanged() {
    let reset = io::Error::from(io::ErrorKind::ConnectionReset);
    let probe = Probe::<Request<()>, ()>::script([Step::fail(reset)]);
    let service = AttemptTimeout::new(probe, MS);
    let error = service.oneshot(Request::new(())).await.unwrap_err();
    let error = error.downcast::<io::Error>().unwrap();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
}

#[tokio::test(start_paused = true)]
async fn dropping_the_attempt_at_any_await_releases_it() {
    for answers in [50, 500] {
        let driven = drop_at_every_await(
            || {
                let probe = Probe::script([Step::answer(()).after(answers * MS)]);
                let service = AttemptTimeout::new(probe.clone(), 100 * MS);
                (service.oneshot(Request::new(())), probe)
            },
            |probe, polls| {
                assert_eq!(
                    (probe.in_flight(), probe.reserved()),
                    (0, 0),
                    "after {polls} polls"
                );
            },
        )
        .await;
        assert_eq!(driven.output.is_ok(), answers < 100);
        assert!(driven.polls >= 2);
    }
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_ran_out_of_time_is_released_before_the_caller_looks() {
    let probe = Probe::<Request<()>, ()>::script([Step::never()]);
    let mut service = AttemptTimeout::new(probe.clone(), MS);
    let mut attempt = task::spawn(service.ready().await.unwrap().call(Request::new(())));
    assert_pending!(attempt.poll());
    tokio::time::sleep(2 * MS).await;
    assert!(attempt.is_woken());
    assert_ready_err!(attempt.poll());
    assert_eq!((probe.in_flight(), probe.cancelled()), (0, 1));
}

#[test]
fn auto_traits_follow_the_inner_service() {
    fn all<T: Clone + Send + Sync + Unpin>(_: &T) {}
    fn send<T: Send + Sync>() {}
    all(&AttemptTimeoutLayer::default().layer(()));
    all(&AttemptTimeoutLayer::default());
    send::<ResponseFuture<std::future::Ready<Result<(), io::Error>>>>();
}
