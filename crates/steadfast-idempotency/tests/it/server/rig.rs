use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use steadfast_core::BoxError;
use steadfast_idempotency::IDEMPOTENCY_KEY;
use steadfast_idempotency::server::{
    Idempotency, IdempotencyConfig, IdempotencyLayer, Transaction, TransactionSlot,
};
use tower::util::BoxCloneService;
use tower::{Layer, ServiceExt, service_fn};

use super::store::{MemoryStore, MemoryTx};

pub(crate) type Req = Request<Full<Bytes>>;
pub(crate) type Handler<R> = BoxCloneService<Req, Response<R>, BoxError>;

/// The caller that authentication would have found.
#[derive(Clone)]
pub(crate) struct Caller(pub(crate) &'static str);

/// A protected server: handler, store, and how often the handler ran.
pub(crate) struct Server<R = Full<Bytes>> {
    pub(crate) service: Idempotency<Handler<R>, MemoryStore>,
    pub(crate) layer: IdempotencyLayer<MemoryStore>,
    pub(crate) store: MemoryStore,
    runs: Arc<AtomicUsize>,
}

/// An answer, read whole.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Got {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

pub(crate) fn config() -> IdempotencyConfig {
    IdempotencyConfig::new(|parts: &http::request::Parts| {
        parts.extensions.get::<Caller>().map(|caller| caller.0)
    })
}

impl<R> Server<R>
where
    R: Body<Data = Bytes, Error: std::fmt::Debug> + Send + 'static,
{
    pub(crate) fn new<H, F>(handler: H) -> Self
    where
        H: Fn(Req) -> F + Clone + Send + 'static,
        F: Future<Output = Result<Response<R>, BoxError>> + Send + 'static,
    {
        Self::with(config(), handler)
    }

    pub(crate) fn with<H, F>(config: IdempotencyConfig, handler: H) -> Self
    where
        H: Fn(Req) -> F + Clone + Send + 'static,
        F: Future<Output = Result<Response<R>, BoxError>> + Send + 'static,
    {
        let runs = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&runs);
        let handler = service_fn(move |request| {
            counter.fetch_add(1, Ordering::SeqCst);
            handler(request)
        });
        let store = MemoryStore::default();
        let layer = IdempotencyLayer::new(store.clone(), config);
        Self {
            service: layer.layer(BoxCloneService::new(handler)),
            layer,
            store,
            runs,
        }
    }

    pub(crate) fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
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

impl Got {
    pub(crate) fn code(&self) -> String {
        assert_eq!(self.headers["content-type"], "application/problem+json");
        let problem: serde_json::Value = serde_json::from_slice(&self.body).unwrap();
        assert_eq!(problem["status"], self.status.as_u16());
        let code = problem["code"].as_str().unwrap();
        assert!(problem["type"].as_str().unwrap().ends_with(code));
        assert!(!problem["detail"].as_str().unwrap().is_empty());
        code.to_owned()
    }

    pub(crate) fn is_replay(&self) -> bool {
        self.headers
            .get("idempotent-replayed")
            .is_some_and(|value| value == "true")
    }

    /// Status, code and Retry-After of a refusal, in one line.
    pub(crate) fn refusal(&self) -> String {
        let hint = self
            .headers
            .get("retry-after")
            .map(|value| value.to_str().unwrap());
        let hint = hint.map_or(String::new(), |value| format!(", after {value}"));
        format!("{} {}{hint}", self.status.as_u16(), self.code())
    }
}

/// A POST of caller `a`.
pub(crate) fn post(key: &str, body: &'static str) -> Req {
    Request::post("/charges")
        .header(IDEMPOTENCY_KEY, format!("\"{key}\""))
        .extension(Caller("a"))
        .body(Full::from(body))
        .unwrap()
}

pub(crate) fn slot(request: &Req) -> TransactionSlot<MemoryTx> {
    request
        .extensions()
        .get::<TransactionSlot<MemoryTx>>()
        .unwrap()
        .clone()
}

pub(crate) fn take(request: &Req) -> Transaction<MemoryTx> {
    slot(request).take().unwrap()
}

/// A handler's usual work: one effect in its transaction, one answer.
pub(crate) async fn charge(request: Req) -> Result<Response<Full<Bytes>>, BoxError> {
    let mut tx = take(&request);
    tx.effects.push("charge".to_owned());
    answer(201, "receipt 1")
}

pub(crate) fn answer(status: u16, body: &'static str) -> Result<Response<Full<Bytes>>, BoxError> {
    Ok(Response::builder().status(status).body(Full::from(body))?)
}
