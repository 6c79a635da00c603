//! The kit's contract suite, with room and out of a queue.

use std::convert::Infallible;
use std::num::NonZeroU32;
use std::sync::Mutex;
use std::time::Duration;

use http::{Request, Response};
use steadfast_admission::bulkhead::{Bulkhead, BulkheadBody, BulkheadConfig, BulkheadHandle};
use steadfast_admission::{BulkheadLayer, Mode, Scope};
use steadfast_core::Ratio;
use steadfast_kit::Chunks;
use steadfast_kit::contract::{Inner, Subject, assert_contract};
use tower::{Layer, Service, service_fn};

use super::{empty, limit};
use crate::MS;

const DESTINATION: &str = "contract.example";

/// A bulkhead whose calls find places, or have to wait for one first.
struct Guarded {
    waits: bool,
    latest: Mutex<Option<BulkheadHandle>>,
}

impl Guarded {
    fn new(waits: bool) -> Self {
        let latest = Mutex::new(None);
        Self { waits, latest }
    }
}

/// Takes a place for some time, in a task.
fn occupy(layer: &BulkheadLayer, time: Duration) {
    let mut service = layer.layer(service_fn(move |_: Request<()>| async move {
        tokio::time::sleep(time).await;
        Ok::<_, Infallible>(Response::new(Chunks::new([])))
    }));
    let uri = format!("http://{DESTINATION}/");
    let call = service.call(Request::get(uri).body(()).unwrap());
    tokio::spawn(async move { drop(call.await) });
}

impl Subject for Guarded {
    type Sent = Chunks;
    type Answer = BulkheadBody<Chunks>;
    type Service = Bulkhead<Inner<Chunks>>;
    type Layer = BulkheadLayer;

    fn layer(&self) -> BulkheadLayer {
        let layer = BulkheadLayer::new(limit(2).with_max_wait(Duration::from_secs(1)));
        *self.latest.lock().unwrap() = Some(layer.handle());
        if self.waits {
            occupy(&layer, 5 * MS);
            occupy(&layer, 5 * MS);
        }
        layer
    }

    fn extremes(&self) -> Vec<BulkheadLayer> {
        let waits = [Duration::ZERO, Duration::from_nanos(1), Duration::MAX];
        let tight = |max_wait| {
            let one = limit(1).with_max_wait(max_wait).with_max_queue(u32::MAX);
            let layer = BulkheadLayer::new(
                one.with_max_keys(NonZeroU32::MIN)
                    .with_idle(Duration::ZERO)
                    .with_reserve(Ratio::ZERO),
            );
            occupy(&layer, 5 * MS);
            layer
        };
        let closed = BulkheadConfig::new().with_reserve(Ratio::from_millionths(u32::MAX));
        let wide = limit(u32::MAX)
            .with_max_wait(Duration::MAX)
            .with_idle(Duration::MAX);
        let others = [
            closed.clone(),
            closed.with_max_wait(Duration::MAX),
            wide.clone().with_max_queue(0).with_scope(Scope::Layer),
            wide.with_max_queue(u32::MAX).with_mode(Mode::Shadow),
        ];
        let others = others.map(BulkheadLayer::new);
        waits.map(tight).into_iter().chain(others).collect()
    }

    fn released(&self, _: &Inner<Chunks>) {
        let handle = self.latest.lock().unwrap();
        let handle = handle.as_ref().unwrap();
        assert_eq!(handle.waiting(DESTINATION), 0, "it waits on");
        // The answer of the call that was not dropped is still there, with its body.
        assert!(handle.in_flight(DESTINATION) <= 1 + 2 * usize::from(self.waits));
    }
}

#[tokio::test(start_paused = true)]
async fn a_bulkhead_with_room_keeps_every_promise_of_a_layer() {
    assert_contract(&Guarded::new(false)).await;
}

#[tokio::test(start_paused = true)]
async fn a_bulkhead_whose_calls_wait_keeps_every_promise_of_a_layer() {
    assert_contract(&Guarded::new(true)).await;
}

#[tokio::test(start_paused = true)]
async fn the_occupants_of_the_trials_do_make_calls_wait() {
    let subject = Guarded::new(true);
    let layer = subject.layer();
    let inner = super::Inner::script([steadfast_kit::Step::answer(empty())]);
    let service = layer.layer(inner.clone());
    let mut call = super::call(&service, super::get(DESTINATION));
    tokio_test::assert_pending!(call.poll());
    assert_eq!((inner.calls(), inner.reserved()), (0, 0));
    assert!(call.await.is_ok());
}
