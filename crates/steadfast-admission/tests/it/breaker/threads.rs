//! Real threads, for which a paused clock would not do.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use steadfast_admission::Scope;
use tokio::sync::Barrier;

use super::*;
use crate::MS;

/// O-29: of a hundred calls that find the open time over, as many go out as there are probes.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_more_probes_go_out_than_are_allowed() {
    for (probes, scope) in [
        (1, Scope::Destination),
        (1, Scope::Layer),
        (5, Scope::Destination),
    ] {
        let config = config().with_open(exactly(MS)).with_probes(count(probes));
        let stack = Stack::new(config.with_scope(scope));
        stack.open().await;
        tokio::time::sleep(5 * MS).await;
        let before = stack.peer.calls();
        let barrier = Arc::new(Barrier::new(100));
        let refused = Arc::new(AtomicUsize::new(0));
        let calls = (0..100).map(|_| {
            let (service, barrier) = (stack.service(), barrier.clone());
            let refused = refused.clone();
            tokio::spawn(async move {
                barrier.wait().await;
                // All of them are on their way at once, since none is answered before.
                let does = Does::Late(300 * MS, Box::new(Does::Status(200)));
                if service.oneshot(to(HOST, does)).await.is_err() {
                    refused.fetch_add(1, Ordering::SeqCst);
                }
            })
        });
        for call in calls.collect::<Vec<_>>() {
            call.await.unwrap();
        }
        assert_eq!(stack.peer.calls() - before, probes as usize);
        assert_eq!(stack.peer.most_at_once(), probes as usize);
        assert_eq!(refused.load(Ordering::SeqCst), 100 - probes as usize);
    }
}

#[test]
fn counts_of_many_threads_add_up() {
    let window = Window::default().with_minimum(count(8_000)).unwrap();
    let config = BreakerConfig::default()
        .with_window(window)
        .with_scope(Scope::Layer);
    let stack = Stack::new(config);
    std::thread::scope(|threads| {
        for _ in 0..8 {
            threads.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .build()
                    .unwrap();
                runtime.block_on(async {
                    for _ in 0..999 {
                        stack.call(Does::Status(500)).await;
                    }
                });
            });
        }
    });
    assert_eq!(stack.state(), CircuitState::Closed, "7,992 calls");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        for _ in 0..7 {
            stack.call(Does::Status(500)).await;
        }
        assert_eq!(stack.state(), CircuitState::Closed, "7,999 calls");
        stack.call(Does::Status(500)).await;
        assert_eq!(stack.state(), CircuitState::Open, "8,000 calls");
    });
}
