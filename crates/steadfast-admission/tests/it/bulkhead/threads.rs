//! Many calls at once, on many threads.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::{Request, Response};
use http_body_util::Empty;
use steadfast_admission::BulkheadLayer;
use steadfast_admission::bulkhead::Bulkhead;
use steadfast_core::{CallContext, Criticality, in_context};
use tower::{Layer, Service, ServiceExt, service_fn};

use super::{get, limit};

const CALLS: usize = 100;

/// How many calls are inside, now and at most.
#[derive(Default)]
struct Inside {
    now: AtomicUsize,
    most: AtomicUsize,
    calls: AtomicUsize,
}

struct Visit(Arc<Inside>);

impl Visit {
    fn begin(inside: Arc<Inside>) -> Self {
        let now = inside.now.fetch_add(1, Ordering::SeqCst) + 1;
        inside.most.fetch_max(now, Ordering::SeqCst);
        inside.calls.fetch_add(1, Ordering::SeqCst);
        Self(inside)
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::SeqCst);
    }
}

type Answer = Response<Empty<&'static [u8]>>;

fn guarded(
    layer: &BulkheadLayer,
    inside: &Arc<Inside>,
) -> Bulkhead<
    impl Service<Request<()>, Response = Answer, Error = Infallible, Future: Send> + Clone + use<>,
> {
    let inside = inside.clone();
    layer.layer(service_fn(move |_: Request<()>| {
        let visit = Visit::begin(inside.clone());
        async move {
            for _ in 0..3 {
                tokio::task::yield_now().await;
            }
            drop(visit);
            Ok(Response::new(Empty::new()))
        }
    }))
}

fn matters(nth: usize) -> CallContext {
    let all = [
        Criticality::Sheddable,
        Criticality::Normal,
        Criticality::Critical,
    ];
    CallContext::new().with_criticality(all[nth % 3])
}

fn assert_all_went_by(layer: &BulkheadLayer, inside: &Inside, calls: usize, most: usize) {
    let handle = layer.handle();
    assert_eq!((handle.in_flight("a"), handle.waiting("a")), (0, 0));
    assert_eq!(inside.now.load(Ordering::SeqCst), 0);
    assert_eq!(inside.calls.load(Ordering::SeqCst), calls);
    let seen = inside.most.load(Ordering::SeqCst);
    assert!(seen <= most, "{seen} at once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hundred_calls_of_clones_never_exceed_the_limit_and_all_get_through() {
    let layer = BulkheadLayer::new(limit(7).with_max_wait(Duration::MAX).with_max_queue(200));
    let inside = Arc::default();
    let service = guarded(&layer, &inside);
    for _ in 0..20 {
        let calls: Vec<_> = (0..CALLS)
            .map(|nth| tokio::spawn(in_context(matters(nth), service.clone().oneshot(get("a")))))
            .collect();
        for call in calls {
            assert!(call.await.unwrap().is_ok());
        }
    }
    assert_all_went_by(&layer, &inside, 20 * CALLS, 7);
}

#[test]
fn threads_that_leave_in_the_middle_lose_no_place_and_no_wake() {
    let layer = BulkheadLayer::new(limit(3).with_max_wait(Duration::MAX).with_max_queue(200));
    let inside: Arc<Inside> = Arc::default();
    let served = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let service = guarded(&layer, &inside);
            let served = &served;
            scope.spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .build()
                    .unwrap();
                runtime.block_on(async {
                    for nth in 0..300 {
                        let call = in_context(matters(nth), service.clone().oneshot(get("a")));
                        let mut call = std::pin::pin!(call);
                        if (nth + thread) % 3 > 0 {
                            assert!(call.await.is_ok());
                            served.fetch_add(1, Ordering::SeqCst);
                            continue;
                        }
                        // Polled a little, and given up wherever it is then.
                        for _ in 0..nth % 4 {
                            let polled = std::future::poll_fn(|cx| {
                                std::task::Poll::Ready(call.as_mut().poll(cx).is_ready())
                            });
                            if polled.await {
                                break;
                            }
                            tokio::task::yield_now().await;
                        }
                    }
                });
            });
        }
    });
    assert_eq!(served.into_inner(), 8 * 200);
    let calls = inside.calls.load(Ordering::SeqCst);
    assert_all_went_by(&layer, &inside, calls, 3);
}
