//! The kit's contract suite on the server's layer.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::{Method, Request};
use steadfast_idempotency::IDEMPOTENCY_KEY;
use steadfast_idempotency::server::{
    EngineConfig, Idempotency, IdempotencyLayer, ResponseBody, TransactionUse,
};
use steadfast_kit::Chunks;
use steadfast_kit::contract::{Inner, Promise, Subject, assert_contract};

use super::rig::{Caller, config};
use super::store::MemoryStore;

/// Requests with a fresh key each, or without one.
struct Protected {
    method: Method,
    keys: AtomicUsize,
}

impl Protected {
    fn new(method: Method) -> Self {
        Self {
            method,
            keys: AtomicUsize::new(0),
        }
    }
}

/// The probe is no handler that takes its transaction.
fn engine() -> EngineConfig {
    EngineConfig::default().with_transaction_use(TransactionUse::Optional)
}

impl Subject for Protected {
    type Sent = Chunks;
    type Answer = ResponseBody<Chunks>;
    type Service = Idempotency<Inner<Chunks>, MemoryStore>;
    type Layer = IdempotencyLayer<MemoryStore>;

    fn layer(&self) -> Self::Layer {
        IdempotencyLayer::new(MemoryStore::default(), config().with_engine(engine()))
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
        let times = [Duration::ZERO, Duration::MAX].into_iter().map(|time| {
            let engine = engine()
                .with_work_limit(time)
                .with_store_timeout(time)
                .with_retention(time);
            config().with_engine(engine).with_request_timeout(time)
        });
        let limits = [0, usize::MAX].into_iter().map(|bytes| {
            config()
                .with_engine(engine())
                .with_request_limit(bytes)
                .with_response_limit(bytes)
        });
        times
            .chain(limits)
            .map(|config| IdempotencyLayer::new(MemoryStore::default(), config))
            .collect()
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
async fn protected_requests_keep_the_promises_of_a_layer_but_for_what_is_kept_whole() {
    assert_contract(&Protected::new(Method::POST)).await;
}
