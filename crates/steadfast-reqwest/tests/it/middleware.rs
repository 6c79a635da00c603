//! Layers as a middleware of reqwest-middleware.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::Extensions;
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware, Middleware, Next};
use steadfast_core::{Delivery, Failure, Outcome, Reason, Report, Verdict};
use steadfast_idempotency::OperationKey;
use steadfast_idempotency::client::{KeyConfig, KeyLayer, Routes};
use steadfast_kit::{Script, ScriptedServer};
use steadfast_reqwest::{Layered, MiddlewareLayer, ReqwestClassify, client_builder};
use steadfast_retry::{RetryConfig, RetryLayer};
use tower::ServiceBuilder;

use crate::wrapped::*;

/// A middleware further in, which counts attempts.
#[derive(Clone, Default)]
struct Counts(Arc<AtomicUsize>);

#[async_trait::async_trait]
impl Middleware for Counts {
    async fn handle(
        &self,
        request: reqwest::Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> reqwest_middleware::Result<reqwest::Response> {
        self.0.fetch_add(1, Ordering::Relaxed);
        next.run(request, extensions).await
    }
}

fn client<L>(layer: L, counts: &Counts) -> ClientWithMiddleware
where
    L: for<'a> MiddlewareLayer<'a>,
{
    let client = client_builder().no_proxy().build().unwrap();
    ClientBuilder::new(client)
        .with(Layered::new(layer))
        .with(counts.clone())
        .build()
}

fn retry() -> RetryLayer {
    RetryLayer::new(RetryConfig::default().with_classify(ReqwestClassify))
}

#[tokio::test]
async fn layers_stand_around_what_is_attached_after_them() {
    let busy = Script::new()
        .read()
        .answer("503 Busy", &["connection: close"], "");
    let works = Script::new()
        .read()
        .answer("200 OK", &["x-back: 1"], "done");
    let server = ScriptedServer::start([busy, works]).await.unwrap();
    let counts = Counts::default();
    let url = server.url("/doc");
    let answer = client(retry(), &counts)
        .put(&url)
        .body("12")
        .send()
        .await
        .unwrap();
    assert_eq!(counts.0.load(Ordering::Relaxed), 2);
    assert_eq!(answer.extensions().get::<Report>().unwrap().attempts, 2);
    assert_eq!(
        (answer.url().as_str(), &answer.headers()["x-back"]),
        (url.as_str(), &"1".parse().unwrap())
    );
    assert_eq!(answer.text().await.unwrap(), "done");
    assert!(server.requests().iter().all(|it| it.ends_with(b"12")));
}

#[tokio::test]
async fn a_post_that_may_have_arrived_is_not_repeated_and_says_so() {
    let server = ScriptedServer::start([Script::new().read()]).await.unwrap();
    let counts = Counts::default();
    let error = client(retry(), &counts)
        .post(server.url("/pay"))
        .send()
        .await
        .unwrap_err();
    let report = Failure::find(&error).unwrap().report();
    assert_eq!(report.reason, Some(Reason::Unprotected));
    assert_eq!(report.outcome, Outcome::Unknown);
    assert_eq!(counts.0.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn what_the_caller_wants_of_the_layers_reaches_them() {
    let script = Script::new().read().answer("200 OK", &[], "");
    let server = ScriptedServer::start([script]).await.unwrap();
    let routes = Routes::new().any_write(&server.addr().to_string()).unwrap();
    let layers = ServiceBuilder::new()
        .layer(KeyLayer::new(KeyConfig::new(routes)))
        .layer(retry())
        .into_inner();
    let call = client(layers, &Counts::default()).post(server.url("/pay"));
    let key = OperationKey::parse("order-7").unwrap();
    call.with_extension(key).send().await.unwrap();
    let sent = String::from_utf8(server.requests()[0].to_vec()).unwrap();
    assert!(sent.contains("idempotency-key: \"order-7\""), "{sent}");
}

#[tokio::test]
async fn errors_keep_their_types() {
    let nowhere = format!("http://{}/", closed_port().await);
    let counts = Counts::default();
    let error = client(retry(), &counts)
        .post(&nowhere)
        .send()
        .await
        .unwrap_err();
    assert_eq!(counts.0.load(Ordering::Relaxed), 2, "as the budget lets");
    assert_eq!(verdict(error), Verdict::Transient(Delivery::Unsent));
    let bare = client(tower::layer::util::Identity::new(), &counts);
    let error = bare.get(&nowhere).send().await.unwrap_err();
    assert!(error.is_connect());
}
