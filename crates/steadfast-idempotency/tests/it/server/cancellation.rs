use std::sync::Arc;
use std::time::Duration;

use steadfast_core::{CallContext, in_context};
use tokio::sync::Notify;
use tower::ServiceExt;

use super::rig::{Req, Server, charge, post};

/// A server whose handler waits in its middle, and the gate that lets it go on.
fn gated() -> (Server, Arc<Notify>) {
    let gate = Arc::new(Notify::new());
    let held = Arc::clone(&gate);
    let server = Server::new(move |request: Req| {
        let held = Arc::clone(&held);
        async move {
            let response = charge(request).await;
            held.notified().await;
            response
        }
    });
    (server, gate)
}

#[tokio::test(start_paused = true)]
async fn a_client_that_hangs_up_mid_handler_loses_nothing() {
    let (server, gate) = gated();
    let hung_up = server.service.clone().oneshot(post("k", "x"));
    tokio::time::timeout(Duration::from_millis(100), hung_up)
        .await
        .unwrap_err();
    assert_eq!(server.runs(), 1);

    assert_eq!(
        server.send(post("k", "x")).await.refusal(),
        "409 in-progress, after 1"
    );
    gate.notify_one();
    server.layer.drain(Duration::from_secs(1)).await.unwrap();
    let again = server.send(post("k", "x")).await;
    assert!(again.is_replay());
    assert_eq!(
        (again.status.as_u16(), &again.body[..]),
        (201, &b"receipt 1"[..])
    );
    assert_eq!((server.runs(), server.store.effects().len()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn draining_waits_for_work_and_says_what_it_did_not_wait_for() {
    let (server, gate) = gated();
    assert!(
        server.layer.drain(Duration::ZERO).await.is_ok(),
        "nothing runs yet"
    );
    let running = tokio::spawn(server.service.clone().oneshot(post("k", "x")));
    tokio::time::sleep(Duration::from_millis(1)).await;
    let left = server
        .layer
        .drain(Duration::from_secs(2))
        .await
        .unwrap_err();
    assert_eq!(left.running, 1);
    gate.notify_one();
    server.layer.drain(Duration::from_secs(2)).await.unwrap();
    assert_eq!(running.await.unwrap().unwrap().status(), 201);
}

#[tokio::test(start_paused = true)]
async fn the_protected_work_runs_in_its_callers_context() {
    let server = Server::new(async |request: Req| {
        let context = CallContext::current();
        assert_eq!(context.operation(), Some("order 7"));
        charge(request).await
    });
    let context = CallContext::new().with_operation("order 7");
    let got = in_context(context, server.send(post("k", "x"))).await;
    assert_eq!(got.status, 201);
}

#[tokio::test(start_paused = true)]
async fn dropped_at_any_await_the_effect_happens_once_or_not_at_all() {
    for polls in 0..12 {
        let server = Server::new(async |request: Req| {
            tokio::task::yield_now().await;
            let response = charge(request).await;
            tokio::task::yield_now().await;
            response
        });
        {
            let mut call = Box::pin(server.service.clone().oneshot(post("k", "x")));
            for _ in 0..polls {
                let done = std::future::poll_fn(|cx| {
                    std::task::Poll::Ready(call.as_mut().poll(cx).is_ready())
                });
                if done.await {
                    break;
                }
                tokio::task::yield_now().await;
            }
        }
        server.layer.drain(Duration::from_secs(1)).await.unwrap();
        let effects = server.store.effects().len();
        assert_eq!(effects, usize::from(polls > 0), "{polls}");
        let again = server.send(post("k", "x")).await;
        assert_eq!(
            (again.status.as_u16(), again.is_replay()),
            (201, effects == 1)
        );
        assert_eq!(server.store.effects().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn only_the_readied_instance_is_called() {
    use steadfast_kit::{Probe, Step};
    use tower::{Layer, Service};
    let server = Server::new(charge);
    let probe = Probe::script([Step::call(charge), Step::call(charge)]);
    let mut service = server.layer.layer(probe.clone());
    for key in ["a", "b"] {
        std::future::poll_fn(|cx| service.poll_ready(cx))
            .await
            .unwrap();
        assert_eq!(service.call(post(key, "x")).await.unwrap().status(), 201);
    }
    std::future::poll_fn(|cx| service.poll_ready(cx))
        .await
        .unwrap();
    assert!(
        service
            .call(post("a", "x"))
            .await
            .unwrap()
            .headers()
            .contains_key("idempotent-replayed")
    );
    assert_eq!((probe.calls(), probe.reserved()), (2, 0));
}
