//! A client stack on hyper-util's client, and what was seen of it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use steadfast::deadline::{AttemptTimeout, AttemptTimeoutLayer};
use steadfast::hyper::HyperClassify;
use steadfast::idempotency::client::{KeyConfig, KeyLayer, Routes, WithKey};
use steadfast::retry::{ReplayBody, ResponseBody, Retry, RetryConfig, RetryLayer};
use steadfast::{Backoff, BoxError, Event, Jitter, Random, Reason};
use steadfast_kit::Script;
use tower::{ServiceBuilder, ServiceExt};

/// hyper-util's client.
pub(crate) type Hyper<B> = Client<HttpConnector, ReplayBody<B>>;
/// The usual order: key, retry, attempt timeout, client.
pub(crate) type Stack<B> = WithKey<Retry<AttemptTimeout<Hyper<B>>>>;
pub(crate) type Answered = Result<Response<ResponseBody<Incoming>>, BoxError>;

/// Every own wait: so short that it is not seen beside a hint.
pub(crate) const WAIT: Duration = Duration::from_millis(2);

pub(crate) fn hyper<B>() -> Hyper<B>
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static,
{
    Client::builder(TokioExecutor::new()).build_http()
}

/// Three attempts, waits of [`WAIT`], seeded; the budget is the default.
pub(crate) fn config() -> RetryConfig {
    let backoff = Backoff::default()
        .with_base(WAIT)
        .with_throttled_base(WAIT)
        .with_cap(WAIT)
        .with_jitter(Jitter::None);
    RetryConfig::new()
        .with_backoff(backoff)
        .with_classify(HyperClassify)
        .with_random(Random::seeded(1))
}

/// A stack that has keys on these routes.
pub(crate) fn stack<B>(config: RetryConfig, routes: Routes) -> Stack<B>
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static,
{
    ServiceBuilder::new()
        .layer(KeyLayer::new(KeyConfig::new(routes)))
        .layer(RetryLayer::new(config))
        .layer(AttemptTimeoutLayer::default())
        .service(hyper())
}

/// A stack without keys.
pub(crate) fn plain(config: RetryConfig) -> Stack<Full<Bytes>> {
    stack(config, Routes::new())
}

pub(crate) async fn send<B>(stack: &Stack<B>, request: Request<B>) -> Answered
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static,
{
    stack.clone().oneshot(request).await
}

pub(crate) fn get(url: &str) -> Request<Full<Bytes>> {
    Request::get(url).body(Full::default()).unwrap()
}

pub(crate) async fn text(answered: Answered) -> String {
    let body = answered.unwrap().into_body().collect().await.unwrap();
    String::from_utf8(body.to_bytes().into()).unwrap()
}

/// Reads a request and answers it, as a server that closes the connection afterwards and says so:
/// the next attempt then never meets a connection that is just being closed.
pub(crate) fn answer(status: &str, headers: &[&str], body: &str) -> Script {
    let headers = [headers, &["connection: close"]].concat();
    Script::new().read().answer(status, &headers, body)
}

/// Reads a request and resets the connection.
pub(crate) fn reset() -> Script {
    Script::new().read().reset()
}

/// The reasons with which calls ended, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ends(Arc<Mutex<Vec<Option<Reason>>>>);

impl Ends {
    /// The config, watched.
    pub(crate) fn of(&self, config: RetryConfig) -> RetryConfig {
        let ends = Arc::clone(&self.0);
        config.with_observer(move |event: &Event<'_>| {
            if let Event::Ended(ended) = event {
                ends.lock().unwrap().push(ended.report.reason);
            }
        })
    }

    pub(crate) fn seen(&self) -> Vec<Option<Reason>> {
        self.0.lock().unwrap().clone()
    }
}
