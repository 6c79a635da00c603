use std::convert::Infallible;
use std::future::ready;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use tower::service_fn;

use super::*;

/// Runs this on ten threads, each with a runtime of its own.
fn on_ten_threads(run: impl AsyncFn(usize) + Sync) {
    let start = Barrier::new(10);
    thread::scope(|scope| {
        for nth in 0..10 {
            let (run, start) = (&run, &start);
            scope.spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread();
                let runtime = { runtime }.build().unwrap();
                start.wait();
                runtime.block_on(run(nth));
            });
        }
    });
}

#[test]
fn of_ten_threads_all_keep_to_what_one_was_told() {
    let sent = AtomicUsize::new(0);
    let layer = CooldownLayer::default();
    let busy = service_fn(|_: Request<()>| {
        sent.fetch_add(1, Ordering::Relaxed);
        ready(Ok::<_, Infallible>(answer(429, &[("retry-after", "50")])))
    });
    on_ten_threads(async |_| {
        for _ in 0..1000 {
            if let Err(error) = layer.layer(busy).oneshot(get("a.example")).await {
                let rejected = Rejected::find(&*error).unwrap();
                assert!(rejected.retry_in() > Some(20 * SECOND));
                // By a clock that was read just before the answer came, it is a little more.
                assert!(rejected.retry_in() <= Some(51 * SECOND));
            }
        }
    });
    let sent = sent.into_inner();
    assert!(
        (1..=10).contains(&sent),
        "{sent} were sent, one a thread at most"
    );
}

#[test]
fn ten_threads_pause_ten_hosts_and_no_other() {
    let layer = CooldownLayer::default();
    let busy = service_fn(|_: Request<()>| {
        ready(Ok::<_, Infallible>(answer(503, &[("retry-after", "50")])))
    });
    on_ten_threads(async |nth| {
        let host = format!("h{nth}.example");
        assert!(layer.layer(busy).oneshot(get(&host)).await.is_ok());
        assert!(layer.layer(busy).oneshot(get(&host)).await.is_err());
        layer.handle().clear(&host);
        assert!(layer.layer(busy).oneshot(get(&host)).await.is_ok());
    });
    for nth in 0..10 {
        let host = format!("h{nth}.example");
        assert!(layer.handle().remaining(&host).is_some());
    }
    assert_eq!(layer.handle().remaining("h10.example"), None);
}
