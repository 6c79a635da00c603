use std::future::pending;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use steadfast_core::BoxError;
use steadfast_idempotency::IDEMPOTENCY_KEY;
use steadfast_idempotency::server::{EngineConfig, IdempotencyLayer};
use tokio::time::Instant;
use tower::{Layer, ServiceExt, service_fn};

use super::rig::{Caller, Req, Server, answer, charge, config, post, take};
use super::store::MemoryStore;

#[tokio::test(start_paused = true)]
async fn bodies_at_the_limit_pass_and_one_byte_more_does_not() {
    let config = config().with_request_limit(4).with_response_limit(9);
    let server = Server::with(config.clone(), charge);
    assert_eq!(server.send(post("a", "1234")).await.status, 201);
    assert_eq!(
        server.send(post("b", "12345")).await.refusal(),
        "413 body-too-large"
    );
    assert_eq!((server.runs(), server.store.effects().len()), (1, 1));

    let server = Server::with(config.with_response_limit(8), charge);
    let got = server.send(post("k", "1")).await;
    assert_eq!(got.refusal(), "500 response-too-large");
    assert_eq!(
        (server.store.effects().len(), server.store.records()),
        (0, 0)
    );
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_takes_too_long_is_dropped_and_rolled_back() {
    let engine = EngineConfig::default().with_work_limit(Duration::from_secs(3));
    let server = Server::<Full<Bytes>>::with(config().with_engine(engine), async |request: Req| {
        let mut tx = take(&request);
        tx.effects.push("effect".to_owned());
        pending().await
    });
    for _ in 0..2 {
        let start = Instant::now();
        let got = server.send(post("k", "x")).await;
        assert_eq!(got.refusal(), "503 work-limit-exceeded, after 1");
        assert_eq!(start.elapsed().as_secs(), 3);
    }
    assert_eq!(
        (server.store.effects().len(), server.store.records()),
        (0, 0)
    );
    assert_eq!(server.runs(), 2, "the key is not stuck");
}

/// A request body that can be anything, and that the layer can rebuild from bytes.
struct Upload(http_body_util::combinators::UnsyncBoxBody<Bytes, BoxError>);

impl From<Bytes> for Upload {
    fn from(bytes: Bytes) -> Self {
        Self(
            Full::from(bytes)
                .map_err(|never| match never {})
                .boxed_unsync(),
        )
    }
}

impl Body for Upload {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, BoxError>>> {
        std::pin::Pin::new(&mut self.0).poll_frame(cx)
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.0.size_hint()
    }
}

async fn upload(
    body: impl Body<Data = Bytes, Error = BoxError> + Send + 'static,
) -> Response<Bytes> {
    let store = MemoryStore::default();
    let layer = IdempotencyLayer::new(store.clone(), config().with_request_limit(10));
    let service = layer.layer(service_fn(async |request: Request<Upload>| {
        let slot = request
            .extensions()
            .get::<steadfast_idempotency::server::TransactionSlot<super::store::MemoryTx>>()
            .unwrap()
            .clone();
        slot.take().unwrap().effects.push("effect".to_owned());
        let echo = request.into_body().collect().await?.to_bytes();
        Ok::<_, BoxError>(Response::new(Full::from(echo)))
    }));
    let request = Request::post("/")
        .header(IDEMPOTENCY_KEY, "\"k\"")
        .extension(Caller("a"))
        .body(Upload(body.boxed_unsync()))
        .unwrap();
    let response = service.oneshot(request).await.unwrap();
    let refused = response.status() != 200;
    assert_eq!(
        store.steps().is_empty(),
        refused,
        "the body is read before any database"
    );
    let (parts, body) = response.into_parts();
    Response::from_parts(parts, body.collect().await.unwrap().to_bytes())
}

fn code(response: &Response<Bytes>) -> String {
    let problem: serde_json::Value = serde_json::from_slice(response.body()).unwrap();
    format!(
        "{} {}",
        response.status().as_u16(),
        problem["code"].as_str().unwrap()
    )
}

#[tokio::test(start_paused = true)]
async fn the_request_body_is_read_whole_before_any_database() {
    use steadfast_kit::{Chunks, Piece};
    let whole = upload(Chunks::of(["ab", "", "cd", "efghij"])).await;
    assert_eq!(whole.body(), "abcdefghij");
    let large = upload(Chunks::of(["ab", "cd", "efghijk"])).await;
    assert_eq!(code(&large), "413 body-too-large");
    let broken = upload(Chunks::new([Piece::data("ab"), Piece::fail("reset")])).await;
    assert_eq!(code(&broken), "400 body-unreadable");
}

#[tokio::test(start_paused = true)]
async fn an_announced_size_over_the_limit_is_refused_unread() {
    let body = steadfast_kit::Chunks::of(["12345678901"]).with_exact_size();
    let watch = body.watch();
    assert_eq!(code(&upload(body).await), "413 body-too-large");
    assert_eq!(watch.polled(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_request_body_that_stalls_is_given_up() {
    let start = Instant::now();
    assert_eq!(code(&upload(Stalled).await), "408 body-timeout");
    assert_eq!(start.elapsed().as_secs(), 30);
}

struct Stalled;

impl Body for Stalled {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, BoxError>>> {
        std::task::Poll::Pending
    }
}

#[tokio::test(start_paused = true)]
async fn a_stored_refusal_over_the_limit_is_not_cut_either() {
    let server = Server::with(config().with_response_limit(3), async |request: Req| {
        take(&request).effects.push("effect".to_owned());
        answer(422, "four")
    });
    assert_eq!(
        server.send(post("k", "x")).await.refusal(),
        "500 response-too-large"
    );
    assert_eq!(server.store.records(), 0);
}
