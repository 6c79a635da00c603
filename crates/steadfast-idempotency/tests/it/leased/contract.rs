//! The kit's contract suite on the leased layer.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::{Method, Request};
use steadfast_idempotency::IDEMPOTENCY_KEY;
use steadfast_idempotency::server::leased::{Leased, LeasedLayer, MemoryLeaseStore, Reentrant};
use steadfast_idempotency::server::{EngineConfig, ResponseBody};
use steadfast_kit::Chunks;
use steadfast_kit::contract::{Inner, Promise, Subject, assert_contract};

use crate::server::rig::{Caller, config};

/// Requests with a fresh key each.
struct Protected {
    method: Method,
    keys: AtomicUsize,
}

impl Protected {
    fn new(method: Method) -> Self {
        let keys = AtomicUsize::new(0);
        Self { method, keys }
    }

    fn with(engine: EngineConfig) -> LeasedLayer<MemoryLeaseStore, Reentrant> {
        let store = MemoryLeaseStore::new(NonZeroUsize::MAX);
        LeasedLayer::new(store, Reentrant, config().with_engine(engine))
    }
}

impl Subject for Protected {
    type Sent = Chunks;
    type Answer = ResponseBody<Chunks>;
    type Service = Leased<Inner<Chunks>, MemoryLeaseStore, Reentrant>;
    type Layer = LeasedLayer<MemoryLeaseStore, Reentrant>;

    fn layer(&self) -> Self::Layer {
        Self::with(EngineConfig::default())
    }

    fn request(&self, body: Chunks) -> Request<Chunks> {
        let key = self.keys.fetch_add(1, Ordering::Relaxed);
        Request::builder()
            .method(&self.method)
            .uri("/charges")
            .header(IDEMPOTENCY_KEY, format!("\"key-{key}\""))
            .extension(Caller("a"))
            .body(body)
            .unwrap()
    }

    fn extremes(&self) -> Vec<Self::Layer> {
        let times = [Duration::ZERO, Duration::MAX].into_iter();
        let engines = times.map(|time| {
            EngineConfig::default()
                .with_lease(time)
                .with_work_limit(time)
                .with_store_timeout(time)
                .with_retention(time)
        });
        engines.map(Self::with).collect()
    }

    fn excepted(&self) -> Vec<(Promise, &'static str)> {
        if self.method.is_safe() {
            return Vec::new();
        }
        let whole = "an answer that is kept is read whole before it is given";
        vec![(Promise::AnswerFrames, whole), (Promise::BodyErrors, whole)]
    }

    fn works_on(&self) -> bool {
        !self.method.is_safe()
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_not_protected_passes_as_through_any_layer() {
    assert_contract(&Protected::new(Method::GET)).await;
}

#[tokio::test(start_paused = true)]
async fn leased_requests_keep_the_promises_of_a_layer_but_for_what_is_kept_whole() {
    assert_contract(&Protected::new(Method::POST)).await;
}
