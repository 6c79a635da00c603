//! The client layer: which key reaches the peer, and what the call is marked with.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use http::{HeaderValue, Request, Response};
use steadfast_core::{CallKey, CallState};
use steadfast_idempotency::client::{KeyConfig, KeyLayer, Routes};
use steadfast_idempotency::{IDEMPOTENCY_KEY, OperationKey};
use tower::{Layer, Service, ServiceExt};

mod contract;
mod one_key;
mod routes;
mod source;

type Call = Request<&'static str>;

type Seen = Arc<Mutex<Vec<Call>>>;

/// A peer that keeps what reaches it.
#[derive(Clone, Default)]
struct Peer(Seen);

impl Service<Call> for Peer {
    type Response = Response<()>;
    type Error = Infallible;
    type Future = std::future::Ready<Result<Response<()>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Call) -> Self::Future {
        self.0.lock().unwrap().push(request);
        std::future::ready(Ok(Response::new(())))
    }
}

impl Peer {
    fn seen(&self) -> Vec<Call> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    fn keys(&self) -> Vec<String> {
        self.seen().iter().map(key).collect()
    }
}

fn key(request: &Call) -> String {
    request.headers()[IDEMPOTENCY_KEY]
        .to_str()
        .unwrap()
        .trim_matches('"')
        .to_owned()
}

fn mark(request: &Call) -> Option<&CallKey> {
    CallState::of(request.extensions()).and_then(CallState::key)
}

fn payments() -> KeyConfig {
    KeyConfig::new(Routes::new().post("payments.example", "/charges").unwrap())
}

fn charge() -> Call {
    Request::post("https://payments.example/charges")
        .body("amount=1")
        .unwrap()
}

fn with_header(mut request: Call, value: &'static str) -> Call {
    request
        .headers_mut()
        .append(IDEMPOTENCY_KEY, HeaderValue::from_static(value));
    request
}

fn with_operation(mut request: Call, key: &str) -> Call {
    request
        .extensions_mut()
        .insert(OperationKey::parse(key).unwrap());
    request
}

/// What reaches the peer when `request` is sent through a layer of `config`.
async fn sent(config: KeyConfig, request: Call) -> Call {
    let peer = Peer::default();
    KeyLayer::new(config)
        .layer(peer.clone())
        .oneshot(request)
        .await
        .unwrap();
    peer.seen().remove(0)
}
