use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::Response;
use http_body_util::{BodyExt, Full};
use steadfast_core::BoxError;
use steadfast_idempotency::Key;
use steadfast_idempotency::server::leased::{
    AtMostOnce, Lease, LeaseCounts, LeasePolicy, Leased, LeasedLayer, Reentrant,
};
use steadfast_idempotency::server::{IdempotencyConfig, Operation};
use tokio::sync::Notify;
use tower::util::BoxCloneService;
use tower::{Layer, ServiceExt, service_fn};

use super::store::Wired;
use crate::server::rig::{Got, Handler, Req, answer, config};

/// One process: its own layer and registry, over a store that others may share.
pub(crate) struct Process<P> {
    pub(crate) service: Leased<Handler<Full<Bytes>>, Wired, P>,
    pub(crate) layer: LeasedLayer<Wired, P>,
    runs: Arc<AtomicUsize>,
}

impl Process<Reentrant> {
    pub(crate) fn reentrant<H, F>(store: &Wired, handler: H) -> Self
    where
        H: Fn(Req) -> F + Clone + Send + 'static,
        F: Future<Output = Result<Response<Full<Bytes>>, BoxError>> + Send + 'static,
    {
        Self::new(store, Reentrant, config(), handler)
    }
}

impl Process<AtMostOnce> {
    pub(crate) fn at_most_once<H, F>(store: &Wired, handler: H) -> Self
    where
        H: Fn(Req) -> F + Clone + Send + 'static,
        F: Future<Output = Result<Response<Full<Bytes>>, BoxError>> + Send + 'static,
    {
        Self::new(store, AtMostOnce::new(), config(), handler)
    }
}

impl<P: LeasePolicy> Process<P> {
    pub(crate) fn new<H, F>(store: &Wired, policy: P, config: IdempotencyConfig, handler: H) -> Self
    where
        H: Fn(Req) -> F + Clone + Send + 'static,
        F: Future<Output = Result<Response<Full<Bytes>>, BoxError>> + Send + 'static,
    {
        let runs = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&runs);
        let handler = service_fn(move |request| {
            counter.fetch_add(1, Ordering::SeqCst);
            handler(request)
        });
        let layer = LeasedLayer::new(store.clone(), policy, config);
        let service = layer.layer(BoxCloneService::new(handler));
        Self {
            service,
            layer,
            runs,
        }
    }

    pub(crate) fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }

    pub(crate) fn counts(&self) -> LeaseCounts {
        self.layer.engine().counts()
    }

    pub(crate) async fn send(&self, request: Req) -> Got {
        self.try_send(request).await.unwrap()
    }

    pub(crate) async fn try_send(&self, request: Req) -> Result<Got, BoxError> {
        let (parts, body) = self.service.clone().oneshot(request).await?.into_parts();
        Ok(Got {
            status: parts.status,
            headers: parts.headers,
            body: body.collect().await.unwrap().to_bytes(),
        })
    }
}

pub(crate) fn lease(request: &Req) -> Lease {
    request.extensions().get::<Lease>().unwrap().clone()
}

/// What `post(key, _)` asks for.
pub(crate) fn operation(key: &str) -> Operation {
    Operation::new("default", "a", &Key::parse(key).unwrap())
}

/// The usual work: a charge elsewhere, by the key of the lease.
pub(crate) async fn charge(request: Req) -> Result<Response<Full<Bytes>>, BoxError> {
    let _sent_with = lease(&request).child("charge");
    answer(201, "receipt 1")
}

/// A handler that says when it has begun and waits to be let go on.
pub(crate) fn gated(
    gate: &Arc<Notify>,
) -> impl Fn(Req) -> HeldAnswer + Clone + Send + 'static + use<> {
    let gate = Arc::clone(gate);
    move |request| {
        let gate = Arc::clone(&gate);
        Box::pin(async move {
            let fence = lease(&request).fence();
            gate.notified().await;
            let body = Full::from(format!("fence {fence}"));
            Ok(Response::builder().status(201).body(body)?)
        })
    }
}

type HeldAnswer = Pin<Box<dyn Future<Output = Result<Response<Full<Bytes>>, BoxError>> + Send>>;

/// Lets spawned work run as far as it can.
pub(crate) async fn settle() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
}
