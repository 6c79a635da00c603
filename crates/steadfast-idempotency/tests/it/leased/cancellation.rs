use std::sync::Arc;
use std::time::Duration;

use steadfast_core::{CallContext, in_context};
use tokio::sync::Notify;
use tower::ServiceExt;

use super::rig::{Process, charge, gated};
use super::store::{Step, Wired};
use crate::server::rig::{Req, post};

#[tokio::test(start_paused = true)]
async fn a_client_that_hangs_up_mid_handler_loses_nothing() {
    let gate = Arc::new(Notify::new());
    let process = Process::at_most_once(&Wired::new(), gated(&gate));
    let hung_up = process.service.clone().oneshot(post("k", "x"));
    let limit = Duration::from_millis(100);
    tokio::time::timeout(limit, hung_up).await.unwrap_err();
    let repeat = process.send(post("k", "x")).await;
    assert_eq!(repeat.refusal(), "409 in-progress, after 1");
    let left = process.layer.drain(Duration::from_secs(2)).await;
    assert_eq!(left.unwrap_err().running, 1);
    gate.notify_one();
    process.layer.drain(Duration::from_secs(2)).await.unwrap();
    assert!(process.send(post("k", "x")).await.is_replay());
    assert_eq!(process.runs(), 1);
}

#[tokio::test(start_paused = true)]
async fn dropped_at_any_await_the_work_is_done_and_recorded_or_never_begun() {
    for polls in 0..30 {
        let store = Wired::new();
        let process = Process::at_most_once(&store, async |request: Req| {
            tokio::task::yield_now().await;
            let response = charge(request).await;
            tokio::task::yield_now().await;
            response
        });
        {
            let mut call = Box::pin(process.service.clone().oneshot(post("k", "x")));
            for _ in 0..polls {
                let polled = std::future::poll_fn(|cx| {
                    std::task::Poll::Ready(call.as_mut().poll(cx).is_ready())
                });
                if polled.await {
                    break;
                }
                tokio::task::yield_now().await;
            }
        }
        process.layer.drain(Duration::from_secs(1)).await.unwrap();
        assert_eq!(process.runs(), usize::from(polls > 0), "{polls}");
        let again = process.send(post("k", "x")).await;
        let replays = polls > 0;
        assert_eq!((again.status.as_u16(), again.is_replay()), (201, replays));
        assert_eq!(process.runs(), 1);
        // Each claim was settled by its own word, none by time.
        let completed = store
            .steps()
            .iter()
            .filter(|step| **step == Step::Complete)
            .count();
        assert_eq!(completed, 1, "{polls}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_protected_work_runs_in_its_callers_context() {
    let process = Process::reentrant(&Wired::new(), async |request: Req| {
        assert_eq!(CallContext::current().operation(), Some("order 7"));
        charge(request).await
    });
    let context = CallContext::new().with_operation("order 7");
    let got = in_context(context, process.send(post("k", "x"))).await;
    assert_eq!(got.status, 201);
}
