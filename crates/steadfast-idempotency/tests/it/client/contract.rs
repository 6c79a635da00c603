use std::convert::Infallible;
use std::io;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use http::header::HeaderName;
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use steadfast_core::{CallState, Deadline};
use steadfast_idempotency::client::{KeyLayer, KeySource, ResponseFuture};
use steadfast_kit::{Probe, Readiness, Step, drop_at_every_await};
use tokio::time::Instant;
use tower::{Layer, Service, ServiceExt};

use super::{Call, Peer, charge, payments, sent};

#[tokio::test]
async fn the_rest_of_the_call_state_is_kept() {
    let mut request = charge();
    let deadline = Deadline::after(Instant::now().into_std(), Duration::from_secs(1));
    CallState::edit(request.extensions_mut(), |state| {
        state.tighten_deadline(deadline)
    });
    let sent = sent(payments(), request).await;
    assert_eq!(
        CallState::of(sent.extensions()).unwrap().deadline(),
        deadline
    );
    assert_eq!(*sent.body(), "amount=1");
}

#[tokio::test]
async fn answers_and_errors_of_the_inner_service_pass_on() {
    let ok = tower::service_fn(async |_: Call| {
        Ok::<_, Infallible>(
            Response::builder()
                .status(StatusCode::CONFLICT)
                .body("x")
                .unwrap(),
        )
    });
    let answer = KeyLayer::new(payments())
        .layer(ok)
        .oneshot(charge())
        .await
        .unwrap();
    assert_eq!(
        (answer.status(), *answer.body()),
        (StatusCode::CONFLICT, "x")
    );

    let broken = tower::service_fn(async |_: Call| {
        Err::<Response<()>, _>(io::Error::from(io::ErrorKind::ConnectionReset))
    });
    let error = KeyLayer::new(payments())
        .layer(broken)
        .oneshot(charge())
        .await
        .unwrap_err();
    let error = error.downcast_ref::<io::Error>().unwrap();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
}

#[test]
fn a_full_header_map_is_an_error_and_no_panic() {
    let mut headers = HeaderMap::new();
    let names = (0..).map(|n| HeaderName::try_from(format!("x-{n}")).unwrap());
    for name in names {
        let value = HeaderValue::from_static("");
        if headers.try_insert(name, value).is_err() {
            break;
        }
    }
    let mut request = charge();
    *request.headers_mut() = headers;
    let peer = Peer::default();
    let mut client = KeyLayer::new(payments()).layer(peer.clone());
    let mut future = std::pin::pin!(client.call(request));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(matches!(future.as_mut().poll(&mut cx), Poll::Ready(Err(_))));
    assert!(peer.seen().is_empty());
}

#[test]
fn layer_service_and_future_are_send_sync_and_clone_where_their_parts_are() {
    fn all<T: Send + Sync>(_: &T) {}
    let layer = KeyLayer::new(payments());
    let mut service = layer.clone().layer(Peer::default());
    all(&layer);
    all(&service.clone());
    let future: ResponseFuture<_> = service.call(charge());
    all(&future);
}

#[tokio::test(start_paused = true)]
async fn only_the_readied_instance_is_called_and_its_errors_pass_on() {
    let probe = Probe::<Call, ()>::script([Step::answer(()), Step::answer(())]).with_readiness([
        Readiness::Later,
        Readiness::Now,
        Readiness::fail("closed"),
    ]);
    let mut client = KeyLayer::new(payments()).layer(probe.clone());
    for _ in 0..2 {
        let ready = client.ready().await.unwrap();
        assert_eq!(probe.reserved(), 1);
        ready.call(charge()).await.unwrap();
        assert_eq!(probe.reserved(), 0);
    }
    let error = client.ready().await.unwrap_err();
    assert_eq!(error.to_string(), "closed");
}

#[test]
fn readiness_that_never_comes_stays_pending() {
    let probe = Probe::<Call, ()>::script([]).with_readiness([Readiness::Never]);
    let mut client = KeyLayer::new(payments()).layer(probe);
    let mut cx = Context::from_waker(Waker::noop());
    assert!(client.poll_ready(&mut cx).is_pending());
}

#[tokio::test(start_paused = true)]
async fn dropping_the_call_drops_the_inner_one_once() {
    let driven = drop_at_every_await(
        || {
            let second = Duration::from_secs(1);
            let probe = Probe::<Call, ()>::script([Step::answer(()).after(second)]);
            let client = KeyLayer::new(payments()).layer(probe.clone());
            (client.oneshot(charge()), probe)
        },
        |probe, _| {
            assert_eq!((probe.reserved(), probe.in_flight()), (0, 0));
            assert!(probe.cancelled() <= 1);
        },
    )
    .await;
    driven.output.unwrap();
    assert_eq!(driven.polls, 2);
}

#[tokio::test]
async fn a_refused_call_gives_its_readiness_back_with_the_service() {
    let probe = Probe::<Call, ()>::script([]);
    let config = payments().with_source(KeySource::RequireExplicit);
    let client = KeyLayer::new(config).layer(probe.clone());
    client.oneshot(charge()).await.unwrap_err();
    assert_eq!((probe.reserved(), probe.calls()), (0, 0));
}
